/**
 * The recording kept for a job in place of the original: the object that holds it, and its size in
 * bytes.
 */
export const statements = [
  `alter table jobs add column redacted_object text`,
  `alter table jobs add column redacted_size bigint`,
  `create index jobs_by_redacted_object on jobs (redacted_object)
    where redacted_object is not null`,
]
