/** The processes that work on this database, with the time of the last heartbeat of each. */
export const statements = [
  `create table owners (
    id text not null primary key,
    started_at integer not null,
    heartbeat_at integer not null,
    host text not null,
    pid integer not null
  ) without rowid`,
]
