/**
 * The ids of the keys that objects are encrypted with; a server without one of them does not start.
 */
export const statements = [
  `create table object_keys (id text primary key, used_at bigint not null)`,
]
