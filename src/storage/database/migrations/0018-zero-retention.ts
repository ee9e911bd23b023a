/**
 * Zero-retention jobs, which are deleted once their result was delivered, and when the account read
 * the result. The index contains those that have ended.
 */
export const statements = [
  `alter table jobs add column zero_retention integer not null default 0`,
  `alter table jobs add column delivered_at integer`,
  `create index jobs_zero_retention on jobs (completed_at)
    where zero_retention = 1 and completed_at is not null`,
]
