import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { type Db, inTransaction } from '../database/db.ts'
import type { JobKind } from '../jobs/jobs.ts'
import { findEditedSize } from '../jobs/transcript-edits.ts'
import { queueForSearch } from './search-queue.ts'

/** An utterance to index; times are in seconds. */
export type IndexedUtterance = {
  start: number
  end: number
  channel: number
  speaker: number | null
  /** The name that a correction gave the speaker or the channel. */
  speakerName: string | null
  language: string
  text: string
  terms: readonly string[]
}

/** Maximum rows that one statement inserts; others can write between two statements. */
const ROWS_PER_STATEMENT = 200
/** Maximum rows that one statement deletes, which takes longer than inserting them. */
const DELETIONS_PER_STATEMENT = 20

/** Returns some finished jobs that are not indexed yet, newest first. */
export async function findUnindexed(db: Db, { limit }: { limit: number }): Promise<UnindexedJob[]> {
  const rows = await db.sql
    .selectFrom('search_queue')
    .innerJoin('jobs', 'jobs.id', 'search_queue.job_id')
    .select(['jobs.id', 'jobs.account', 'jobs.kind'])
    .limit(limit)
    .execute()
  return rows
}

/** A job to index. */
export type UnindexedJob = { id: string; account: string; kind: JobKind }

/**
 * Indexes the utterances of a job in place of those that were indexed before, and takes it out of
 * the queue. If it was corrected since `version`, it stays in the queue, or returns to it because
 * another process has indexed the correction already. Nothing is indexed of a job that was deleted
 * meanwhile. Two processes that index the same job at the same time do no harm.
 */
export async function indexUtterances(
  db: Db,
  { id, account, version = 0 }: Pick<UnindexedJob, 'id' | 'account'> & { version?: number },
  utterances: readonly IndexedUtterance[],
): Promise<void> {
  for (
    let remainingUtterances = await countUtterances(db, id);
    remainingUtterances > DELETIONS_PER_STATEMENT;
    remainingUtterances -= DELETIONS_PER_STATEMENT
  )
    await deleteSome(db, id, DELETIONS_PER_STATEMENT)
  let from = 0
  do {
    const rows = utterances.slice(from, from + ROWS_PER_STATEMENT)
    const isThere = await inTransaction(db, async (tx) => {
      if (rows.length > 0 && !(await isDone(tx, id))) return false
      // This is in the same transaction as the first new utterances, so that no utterance is
      // missing in between.
      if (from === 0) await deleteSome(tx, id, DELETIONS_PER_STATEMENT)
      if (rows.length > 0) await insertUtterances(tx, { id, account, from }, rows)
      return true
    })
    if (!isThere) return
    from += ROWS_PER_STATEMENT
  } while (from < utterances.length)
  await inTransaction(db, async (tx) => {
    const languages = new Set(utterances.map(({ language }) => language))
    if (languages.size > 0) {
      await tx.sql
        .insertInto('search_languages')
        .values([...languages].sort().map((language) => ({ account, language })))
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    }
    // A correction that is being stored has a lock on its job, and has perhaps queued it already.
    await tx.dialect.lockRows?.(tx, 'jobs', sql`id = ${id}`)
    const isCurrent = (await findEditedSize(tx, id)).version === version
    if (isCurrent) await tx.sql.deleteFrom('search_queue').where('job_id', '=', id).execute()
    else await queueForSearch(tx, id)
  })
}

async function countUtterances(db: Db, jobId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from utterances where job_id = ${jobId}`.execute(db.sql)
  return Number(rows[0]!.count)
}

/** Deletes some utterances of a job; returns how many. */
async function deleteSome(db: Pick<Db, 'sql'>, jobId: string, limit: number): Promise<number> {
  const { numAffectedRows = 0n } = await sql`delete from utterances where id in
    (select id from utterances where job_id = ${jobId} limit ${limit})`.execute(db.sql)
  return Number(numAffectedRows)
}

async function isDone(tx: Db, id: string): Promise<boolean> {
  const { rows } = await sql`select 1 from jobs where id = ${id} and status = 'done'
    ${tx.dialect.forKeyShare}`.execute(tx.sql)
  return rows.length > 0
}

async function insertUtterances(
  tx: Db,
  { id, account, from }: { id: string; account: string; from: number },
  utterances: readonly IndexedUtterance[],
): Promise<void> {
  const accountTerm = accountTermOf(account)
  const { columns, values } = tx.dialect.search
  const rows = utterances.map(({ terms, ...utterance }, i) => {
    const { start, end, channel, speaker, speakerName, language, text } = utterance
    const fields = [id, from + i, start, end, channel, speaker, speakerName, language, text]
    return sql`(${sql.join(fields)}, ${values(accountTerm, terms)})`
  })
  await sql`insert into utterances
    (job_id, n, start, "end", channel, speaker, speaker_name, language, text, ${columns})
    values ${sql.join(rows)} on conflict do nothing`.execute(tx.sql)
}

/** Returns some deleted jobs whose words are still in the index. */
export async function findRemoved(db: Db, { limit }: { limit: number }): Promise<string[]> {
  const { rows } = await sql<{ job_id: string }>`select job_id from search_queue
    where not exists (select 1 from jobs where jobs.id = search_queue.job_id)
    limit ${limit}`.execute(db.sql)
  return rows.map(({ job_id }) => job_id)
}

/**
 * Deletes some utterances of a deleted job from the index; after the last, removes the job from the
 * queue. Returns whether more are left.
 */
export function removeUtterances(
  db: Db,
  jobId: string,
  { limit }: { limit: number },
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    if ((await deleteSome(tx, jobId, limit)) === limit) return true
    await tx.sql.deleteFrom('search_queue').where('job_id', '=', jobId).execute()
    return false
  })
}

/** Returns the languages of an account's current and past recordings. */
export async function listSearchLanguages(db: Db, account: string): Promise<string[]> {
  const rows = await db.reader
    .selectFrom('search_languages')
    .select('language')
    .where('account', '=', account)
    .orderBy('language')
    .execute()
  return rows.map(({ language }) => language)
}

/** Returns a term that stands for an account, whose name may contain any characters. */
export function accountTermOf(account: string): string {
  return createHash('sha256').update(account).digest('hex').slice(0, 32)
}
