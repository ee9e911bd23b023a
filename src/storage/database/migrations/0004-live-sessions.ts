/**
 * The secret of each live session, by which its sockets find it. A row outlives its job: a client
 * that connects too late learns that the session has ended, and a repeated creation gets its first
 * answer.
 */
export const statements = [
  `create table live_sessions (
    job_id text primary key,
    token text not null unique,
    created_at bigint not null,
    ended_at bigint
  ) without rowid`,
  `create index live_sessions_by_end on live_sessions (ended_at) where ended_at is not null`,
]
