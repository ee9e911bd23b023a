/** Warnings about the request of a job, such as about unknown fields: a list as JSON. */
export const statements = [`alter table jobs add column request_warnings text`]
