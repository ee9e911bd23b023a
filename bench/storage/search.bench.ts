/**
 * Searches in what was said in 10,000 recordings of 100 utterances each, one at a time, with a bar of
 * 100 ms for 95 %. Words are as frequent as in a language: the n-th of 20,000 occurs with 1/n. Filling
 * takes some minutes. With `STENO_BENCH=postgres` the store is a PostgreSQL server of its own;
 * `STENO_BENCH_JOBS` sets another number of recordings.
 */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  makePostgresFolder,
  postgresUrl,
  removePostgres,
  startPostgres,
} from '../../scripts/test-postgres.ts'
import { createLog } from '../../src/log.ts'
import { indexUtterances, searchUtterances } from '../../src/storage/search/utterances.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { readQuery } from '../../src/text/search/search-query.ts'
import { report } from '../report.ts'
import { temporaryFolder } from '../temporary-folder.ts'

const JOBS = Number(process.env.STENO_BENCH_JOBS ?? 10_000)
const UTTERANCES = 100
const WORDS = 12
const VOCABULARY = 20_000
const REPEATS = 40
const BAR_MS = 100
const ACCOUNT = 'acme'

/** Each question, with the rank of its words: w0 is the most frequent. */
const questions = [
  ['the most frequent word', 'w0'],
  ['two frequent words', 'w3 w5'],
  ['a phrase of frequent words', '"w0 w1"'],
  ['a rare word', 'w15000'],
  ['a rare and a frequent word', 'w12000 w0'],
  ['the beginning of words', 'w199*'],
  ['without a frequent word', 'w200 -w0'],
  ['nothing', 'nobodysaidthat'],
] as const

const isPostgres = process.env.STENO_BENCH === 'postgres'
const folder = await temporaryFolder()
const postgresFolder = isPostgres ? makePostgresFolder() : undefined
if (postgresFolder) {
  await startPostgres(postgresFolder, {
    isDurable: true,
    settings: ['shared_buffers=1GB', 'autovacuum=on'],
  })
}
const url = postgresFolder && postgresUrl(postgresFolder, 'postgres')
const database = url && { url, connections: 4, statementSeconds: 60, startSeconds: 5 }
const storage = await openStorage({
  folder: join(folder, 'data'),
  log: createLog('error'),
  ...(database && { database }),
})
const { db } = storage

let seed = 1
function random(): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}
/** Returns words with the frequencies of Zipf's law. */
function say(): string[] {
  return Array.from({ length: WORDS }, () => `w${Math.floor(VOCABULARY ** random()) - 1}`)
}

const begunAt = performance.now()
for (let n = 0; n < JOBS; n++) {
  const id = randomUUID()
  const row = { id, account: ACCOUNT, kind: 'pre-recorded' as const, status: 'done' as const }
  const file = { file_id: randomUUID(), file_filename: `${n}.mp3`, file_duration: 500 }
  const times = { created_at: n * 1000, completed_at: n * 1000, run_after: 0 }
  await db.sql
    .insertInto('jobs')
    .values({ ...row, ...file, ...times } as never)
    .execute()
  const utterances = Array.from({ length: UTTERANCES }, (_, i) => {
    const terms = say()
    const place = { start: i * 5, end: i * 5 + 4, channel: 0, speaker: i % 2, language: 'en' }
    return { ...place, text: terms.join(' '), terms }
  })
  await indexUtterances(db, { id, account: ACCOUNT }, utterances)
}
const perSecond = (JOBS * UTTERANCES) / ((performance.now() - begunAt) / 1000)
report({ bench: 'search', what: 'utterances indexed per second', perSecond, isPostgres })

for (const [what, q] of questions) {
  const query = (await readQuery(q, ['xx']))!
  const ms: number[] = []
  let hits = 0
  for (let i = 0; i < REPEATS; i++) {
    const at = performance.now()
    const filter = { account: ACCOUNT, query }
    hits = (await searchUtterances(db, filter, { offset: 0, limit: 20 })).hits.length
    ms.push(performance.now() - at)
  }
  ms.sort((a, b) => a - b)
  const [p50, p95] = [ms[REPEATS / 2], ms[Math.ceil(REPEATS * 0.95) - 1]!]
  const found = { bench: 'search', what, jobs: JOBS, isPostgres, hits }
  report({ ...found, p50, p95, bar: BAR_MS, holds: p95 <= BAR_MS })
}

await storage.close()
if (postgresFolder) await removePostgres(postgresFolder)
await rm(folder, { recursive: true })
