/**
 * The process that sends a delivery now, and until when: two senders never make the same attempt.
 */
export const statements = [
  `alter table deliveries add column lease_owner text`,
  `alter table deliveries add column lease_epoch bigint not null default 0`,
  `alter table deliveries add column lease_until bigint`,
]
