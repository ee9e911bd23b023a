/**
 * The audit log: who created and revoked keys and deleted jobs, and with which settings servers
 * started.
 */
export const statements = [
  `create table audit_log (
    id text primary key,
    at integer not null,
    action text not null,
    source text not null,
    account text,
    subject text,
    key_id text,
    address text,
    details text not null
  ) without rowid`,
  `create index audit_log_by_time on audit_log (at desc, id desc)`,
]
