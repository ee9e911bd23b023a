/** The recording that is kept of a job in place of the original: the object that holds it, and its bytes. */
export const statements = [
  `alter table jobs add column redacted_object text`,
  `alter table jobs add column redacted_size bigint`,
  `create index jobs_by_redacted_object on jobs (redacted_object)
    where redacted_object is not null`,
]
