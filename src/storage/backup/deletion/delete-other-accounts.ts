import { DatabaseSync } from 'node:sqlite'

/**
 * Tables that belong to no account; the servers in `owners` are gone. The index of words follows
 * the utterances.
 */
const common = ['schema_version', 'owners', 'utterance_terms', 'object_keys']
/** Erases words from their index one by one, which takes hours for those of many accounts. */
const unindexing = 'unindex_utterance'
/** The owner of a row of other tables: the first of these columns that the table has. */
const owned = [
  { column: 'account', condition: 'account is not :account' },
  { column: 'job_id', condition: 'job_id not in (select id from jobs)' },
  { column: 'delivery_id', condition: 'delivery_id not in (select id from deliveries)' },
  { column: 'key_hash', condition: 'key_hash not in (select hash from keys)' },
  { column: 'token', condition: 'id not in (select id from jobs)' },
] as const

/**
 * Deletes all that belongs to other accounts from a copy of a database, also from its free pages.
 * Throws if the account has nothing in it.
 */
export function deleteOtherAccounts(file: string, account: string): void {
  const database = new DatabaseSync(file)
  try {
    database.exec('pragma journal_mode = delete')
    const isKnownAccount = ['jobs', 'files', 'keys', 'endpoints'].some((table) => {
      return database.prepare(`select 1 from ${table} where account = ? limit 1`).get(account)
    })
    if (!isKnownAccount) throw new Error(`The backup has nothing of an account '${account}'`)
    database.exec('begin')
    const trigger = database.prepare('select sql from sqlite_schema where name = ?')
    const { sql } = trigger.get(unindexing) as { sql: string }
    database.exec(`drop trigger ${unindexing}`)
    for (const { table, condition } of rulesOf(database)) {
      const statement = database.prepare(`delete from ${table} where ${condition}`)
      if (condition.includes(':account')) statement.run({ account })
      else statement.run()
    }
    database.exec(`insert into utterance_terms (utterance_terms) values ('rebuild'); ${sql}`)
    // Triggers noted the deletions as events of the others.
    database.prepare('delete from events where account <> ?').run(account)
    database.prepare('delete from account_bytes where account <> ?').run(account)
    database.exec('commit; vacuum; pragma journal_mode = wal')
  } finally {
    database.close()
  }
}

/** Returns which rows to delete from which table: those that others depend on come first. */
function rulesOf(database: DatabaseSync): { table: string; condition: string }[] {
  const tables = database
    .prepare(
      `select name from pragma_table_list
        where schema = 'main' and type in ('table', 'virtual') and name not like 'sqlite_%'`,
    )
    .all() as { name: string }[]
  const rules = tables.flatMap(({ name: table }) => {
    if (common.includes(table)) return []
    const columns = database.prepare('select name from pragma_table_info(?)').all(table) as {
      name: string
    }[]
    const rule = owned.findIndex(({ column }) => columns.some(({ name }) => name === column))
    // No copy is better than one that still holds the data of others.
    if (rule === -1) throw new Error(`Cannot restore one account: the table ${table} has no rule`)
    return [{ table, rule }]
  })
  return rules
    .sort((a, b) => a.rule - b.rule)
    .map(({ table, rule }) => ({ table, condition: owned[rule]!.condition }))
}
