/** What a key is called, what it may do and how long. A key that was there may do what it could. */
export const statements = [
  `alter table keys add column name text`,
  `alter table keys add column scopes text not null default 'read,write,live'`,
  `alter table keys add column expires_at bigint`,
  `alter table keys add column last_used_at bigint`,
]
