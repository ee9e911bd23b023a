/**
 * Browsers that are signed in with a key, and links that sign one in, by the hash of their secret.
 */
export const statements = [
  `create table sign_ins (
    hash text not null primary key,
    kind text not null,
    key_hash text not null,
    expires_at integer not null
  ) without rowid`,
  `create index sign_ins_by_key on sign_ins (key_hash)`,
]
