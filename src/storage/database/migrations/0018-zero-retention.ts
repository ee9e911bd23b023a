/**
 * Jobs of which nothing is kept once their result was delivered, and when their owner read it. The
 * index holds those that have ended.
 */
export const statements = [
  `alter table jobs add column zero_retention integer not null default 0`,
  `alter table jobs add column delivered_at integer`,
  `create index jobs_zero_retention on jobs (completed_at)
    where zero_retention = 1 and completed_at is not null`,
]
