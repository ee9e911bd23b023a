/**
 * What accounts used, added up by UTC day (its midnight, in milliseconds), key and kind of job.
 * Rows remain when the jobs are deleted. Times are whole microseconds, so that sums are exact. Also
 * adds the key that requested a job.
 */
export const statements = [
  `alter table jobs add column key_id text`,
  `create table usage (
    account text not null,
    measure text not null,
    day integer not null,
    key_id text not null,
    kind text not null,
    amount integer not null,
    primary key (account, measure, day, key_id, kind)
  ) without rowid`,
]
