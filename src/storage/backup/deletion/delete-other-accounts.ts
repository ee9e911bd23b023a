import { DatabaseSync } from 'node:sqlite'

/**
 * The tables whose rows belong to no account, or are handled below. The servers in `owners` no
 * longer exist; the index of words is rebuilt from the utterances.
 */
const tablesWithoutAccount = ['schema_version', 'owners', 'utterance_terms', 'object_keys']
/**
 * The trigger that deletes words from their index one by one, which would take hours for many
 * accounts.
 */
const UNINDEXING_TRIGGER = 'unindex_utterance'
/**
 * The columns that lead to the account of a row, and the condition for rows of other accounts. The
 * first rule counts whose column the table has.
 */
const accountRules = [
  { column: 'account', condition: 'account is not :account' },
  { column: 'job_id', condition: 'job_id not in (select id from jobs)' },
  { column: 'delivery_id', condition: 'delivery_id not in (select id from deliveries)' },
  { column: 'key_hash', condition: 'key_hash not in (select hash from keys)' },
  { column: 'token', condition: 'id not in (select id from jobs)' },
] as const

/**
 * Deletes the data of all other accounts from a copy of a database, including its free pages.
 * Throws if the copy has no data of the account.
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
    const { sql } = trigger.get(UNINDEXING_TRIGGER) as { sql: string }
    database.exec(`drop trigger ${UNINDEXING_TRIGGER}`)
    for (const { table, condition } of rulesOf(database)) {
      const statement = database.prepare(`delete from ${table} where ${condition}`)
      if (condition.includes(':account')) statement.run({ account })
      else statement.run()
    }
    database.exec(`insert into utterance_terms (utterance_terms) values ('rebuild'); ${sql}`)
    // Triggers recorded the deletions as events of the other accounts.
    database.prepare('delete from events where account <> ?').run(account)
    database.prepare('delete from account_bytes where account <> ?').run(account)
    database.exec('commit; vacuum; pragma journal_mode = wal')
  } finally {
    database.close()
  }
}

/**
 * Returns the rows to delete from each table, in an order in which no row is deleted before the
 * rows that refer to it.
 */
function rulesOf(database: DatabaseSync): { table: string; condition: string }[] {
  const tables = database
    .prepare(
      `select name from pragma_table_list
        where schema = 'main' and type in ('table', 'virtual') and name not like 'sqlite_%'`,
    )
    .all() as { name: string }[]
  const rules = tables.flatMap(({ name: table }) => {
    if (tablesWithoutAccount.includes(table)) return []
    const columns = database.prepare('select name from pragma_table_info(?)').all(table) as {
      name: string
    }[]
    const rule = accountRules.findIndex(({ column }) => columns.some(({ name }) => name === column))
    // The restore must fail rather than keep rows that may belong to other accounts.
    if (rule === -1) throw new Error(`Cannot restore one account: the table ${table} has no rule`)
    return [{ table, rule }]
  })
  return rules
    .sort((a, b) => a.rule - b.rule)
    .map(({ table, rule }) => ({ table, condition: accountRules[rule]!.condition }))
}
