/**
 * Measures searches over HTTP in the transcripts of 10,000 recordings, 18 minutes each on average,
 * one at a time, with a limit of 200 ms: by word, phrase, speaker, day and metadata, first and
 * later pages. On a busy machine the least time and the processor time say more than the median.
 * Words are as frequent as in a language: the n-th of 20,000 occurs with 1/n. Then recordings are
 * deleted, and all pages of one word are compared with the transcripts. Filling takes some minutes.
 * With `STENO_BENCH=postgres` the store is a PostgreSQL server of its own; `STENO_BENCH_JOBS` sets
 * another number of recordings.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  makePostgresFolder,
  postgresUrl,
  removePostgres,
  startPostgres,
} from '../../scripts/tests/test-tools/test-postgres.ts'
import { createLog } from '../../src/observability/log.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { report } from '../support/report.ts'
import { processorTime, type Served, serveSteno } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { fillSearchStore } from './search-store.ts'

const JOBS = Number(process.env.STENO_BENCH_JOBS ?? 10_000)
const REPEATS = 20
const LIMIT_MS = 200
/** The longest wait for a search. */
const MAX_MS = 10_000
/** A word of some thousand utterances. */
const COUNTED = 'w300'
const DELETED_JOBS = 20

/** Each search with the ranks of its words: w0 is the most frequent, and `n17` is said once. */
const searches = [
  ['the most frequent word', 'q=w0'],
  ['the most frequent word, 50th page', 'q=w0&offset=980'],
  ['the most frequent word, 500th page', 'q=w0&offset=9980'],
  ['two frequent words', 'q=w3+w5'],
  ['a phrase of frequent words', 'q="w0+w1"'],
  ['a phrase of rarer words', 'q="w40+w90"'],
  ['a rare word', 'q=w15000'],
  ['a word that is said once', 'q=n17'],
  ['a rare and a frequent word', 'q=w12000+w0'],
  ['the beginning of words', 'q=w199*'],
  ['without a frequent word', 'q=w200+-w0'],
  ['nothing', 'q=nobodysaidthat'],
  ['frequent, one speaker', 'q=w0&speaker=1'],
  ['frequent, a speaker who does not exist', 'q=w0&speaker=7'],
  ['frequent, by name', 'q=w0&speaker_name=Speaker+15'],
  ['phrase, by name', 'q="w0+w1"&speaker_name=Speaker+15'],
  ['frequent, live', 'q=w0&kind=live'],
  ['frequent, last day', 'q=w0&date=2026-02-20'],
  ['frequent, first day', 'q=w0&date=2025-01-01'],
  ['frequent, a day without recordings', 'q=w0&date=2024-01-01'],
  ['phrase, first day', 'q="w0+w1"&date=2025-01-01'],
  ['rare, first day', 'q=w15000&date=2025-01-01'],
  ['frequent, first month', 'q=w0&before_date=2025-02-01T00:00:00Z'],
  ['frequent, one language', 'q=w0&language=en'],
  ['frequent, another language', 'q=w0&language=de'],
  ['frequent, metadata of 1 recording', 'q=w0&custom_metadata={"order":17}'],
  ['frequent, metadata of 10 recordings', 'q=w0&custom_metadata={"customer":17}'],
  ['frequent, metadata of 1 in 3', 'q=w0&custom_metadata={"team":"red"}'],
  ['frequent, metadata of none', 'q=w0&custom_metadata={"team":"pink"}'],
  [
    'frequent, metadata of 1 and first month',
    'q=w0&custom_metadata={"order":17}&before_date=2025-02-01T00:00:00Z',
  ],
  ['rare, metadata of 1 in 3', 'q=w15000&custom_metadata={"team":"red"}'],
] as const

const isPostgres = process.env.STENO_BENCH === 'postgres'
const database = isPostgres ? 'PostgreSQL' : 'SQLite'
const folder = await temporaryFolder()
const data = join(folder, 'data')
const postgresFolder = isPostgres ? makePostgresFolder() : undefined
if (postgresFolder) {
  const settings = ['shared_buffers=1GB', 'autovacuum=on']
  await startPostgres(postgresFolder, { isDurable: true, settings })
}
const url = postgresFolder && postgresUrl(postgresFolder, 'postgres')
const { said, ...filled } = await fill()
report({ bench: 'search', what: 'filled', database, jobs: JOBS, ...filled })
const steno = await serveSteno(data, {
  STENO_RETENTION_DAYS: '0',
  ...(url && { STENO_DATABASE_URL: url }),
})
for (const [what, query] of searches) await measure(steno, what, query)
await deleteSome(steno)
await steno.stop()
if (postgresFolder) await removePostgres(postgresFolder)
await rm(folder, { recursive: true })

async function fill() {
  const settings = url && { url, connections: 4, statementSeconds: 60, startSeconds: 5 }
  const log = createLog('error')
  const storage = await openStorage({
    folder: data,
    log,
    ...(settings && { database: settings }),
  })
  const begunAt = performance.now()
  const store = await fillSearchStore(storage.db, { jobs: JOBS, counted: COUNTED })
  await storage.close()
  return { ...store, seconds: (performance.now() - begunAt) / 1000 }
}

async function measure(server: Served, what: string, query: string): Promise<void> {
  const path = `/v2/search?${query}`
  // The first request reads pages that the others find in memory.
  let hits = (await get(server, path)).items.length
  const ms: number[] = []
  // The time of the server, without that of a PostgreSQL server.
  const before = await processorTime(server.process)
  const begunAt = performance.now()
  while (ms.length < REPEATS && performance.now() - begunAt < MAX_MS) {
    const at = performance.now()
    hits = (await get(server, path)).items.length
    ms.push(performance.now() - at)
  }
  const processor = ((await processorTime(server.process)) - before) / ms.length
  ms.sort((a, b) => a - b)
  const [min, p50] = [ms[0]!, ms[Math.floor(ms.length / 2)]!]
  report({ bench: 'search', what, database, hits, min, p50, processor, limit: LIMIT_MS })
}

/** Deletes recordings that contain a word, and counts its hits before and after that. */
async function deleteSome(server: Served): Promise<void> {
  const before = await countHits(server)
  const ids = [...said.keys()].slice(0, DELETED_JOBS)
  for (const id of ids) {
    const response = await fetch(`${server.url}/v2/transcription/${id}`, {
      method: 'DELETE',
      headers: { 'x-service-key': 'bench' },
    })
    if (!response.ok) throw new Error(`DELETE ${id}: ${response.status}`)
  }
  const after = await countHits(server)
  const all = [...said.values()].reduce((sum, count) => sum + count, 0)
  const gone = ids.reduce((sum, id) => sum + said.get(id)!, 0)
  const isExact = before === all && after === all - gone
  report({ bench: 'search', what: 'deleted', database, said: all, before, gone, after, isExact })
}

async function countHits(server: Served): Promise<number> {
  let count = 0
  let path: string | null = `/v2/search?q=${COUNTED}&limit=1000`
  while (path) {
    const page = await get(server, path)
    count += page.items.length
    path = page.next?.slice(page.next.indexOf('/v2/')) ?? null
  }
  return count
}

type Page = { items: unknown[]; next: string | null }

async function get(server: Served, path: string): Promise<Page> {
  const response = await fetch(`${server.url}${path}`, { headers: { 'x-service-key': 'bench' } })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
  return JSON.parse(text) as Page
}
