/**
 * What the other processes of a database know of each owner: its address, and its state as JSON.
 */
export const statements = [
  `alter table owners add column url text`,
  `alter table owners add column state text not null default '{}'`,
]
