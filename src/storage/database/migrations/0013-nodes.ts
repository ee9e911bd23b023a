/** What each process reports to the others on the database: its address, and its state as JSON. */
export const statements = [
  `alter table owners add column url text`,
  `alter table owners add column state text not null default '{}'`,
]
