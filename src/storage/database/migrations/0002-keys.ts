/** The name, the scopes and the expiry of a key. Existing keys keep their rights. */
export const statements = [
  `alter table keys add column name text`,
  `alter table keys add column scopes text not null default 'read,write,live'`,
  `alter table keys add column expires_at bigint`,
  `alter table keys add column last_used_at bigint`,
]
