/**
 * The hash of the key that created a live session: the session ends with the key. Null for older
 * ones.
 */
export const statements = [`alter table live_sessions add column key_hash text`]
