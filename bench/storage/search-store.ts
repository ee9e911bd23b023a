import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../../src/storage/database/db.ts'
import { metadataTokens } from '../../src/storage/jobs/lists/metadata-tokens.ts'
import { type IndexedUtterance, indexUtterances } from '../../src/storage/search/utterance-index.ts'
import { toNameTerm } from '../../src/text/search/search-words.ts'

/** The account of the keys of `serveSteno`. */
const ACCOUNT = 'bench'
/** Recordings are an hour apart. */
const FIRST_AT = Date.UTC(2025, 0, 1)
const APART_MS = 3_600_000

/**
 * The lengths of recordings in minutes: most are short, some take an hour or more; 18 minutes on
 * average.
 */
const MINUTES = [1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 45, 90]
const UTTERANCES_PER_MINUTE = 10
/** Words per utterance, at 150 words per minute. */
const WORDS = 15
const VOCABULARY = 20_000
const NAMES = 100

let seed = 1
function random(): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

/** Returns words with the frequencies of Zipf's law. */
function say(): string[] {
  return Array.from({ length: WORDS }, () => `w${Math.floor(VOCABULARY ** random()) - 1}`)
}

/**
 * The content of a store: the number of utterances and words, and for a counted word its utterances
 * in each recording.
 */
export type SearchStore = { utterances: number; words: number; said: Map<string, number> }

/**
 * Fills a store with recordings, each with metadata, two speakers and the words `n17` of its own
 * number; the speakers of one in five have names. `counted` is the word whose utterances are
 * counted.
 */
export async function fillSearchStore(
  db: Db,
  { jobs, counted }: { jobs: number; counted: string },
): Promise<SearchStore> {
  const store: SearchStore = { utterances: 0, words: 0, said: new Map() }
  for (let n = 0; n < jobs; n++) {
    const id = randomUUID()
    await insertJob(db, { id, n })
    const count = MINUTES[n % MINUTES.length]! * UTTERANCES_PER_MINUTE
    const utterances = Array.from({ length: count }, (_, i) => utterance(n, i))
    await indexUtterances(db, { id, account: ACCOUNT }, utterances)
    const hits = utterances.filter(({ terms }) => terms.includes(counted)).length
    if (hits > 0) store.said.set(id, hits)
    store.utterances += count
    store.words += count * WORDS
  }
  return store
}

async function insertJob(db: Db, { id, n }: { id: string; n: number }): Promise<void> {
  const kind = n % 10 === 0 ? ('live' as const) : ('pre-recorded' as const)
  const at = FIRST_AT + n * APART_MS
  const metadata = { team: ['red', 'blue', 'green'][n % 3], customer: n % 1000, order: n }
  const file = { file_id: randomUUID(), file_filename: `${n}.mp3`, file_duration: 900 }
  const times = { created_at: at, completed_at: at, run_after: 0 }
  const text = { custom_metadata: JSON.stringify(metadata), request_params: '{}' }
  const row = { id, account: ACCOUNT, kind, status: 'done', ...file, ...times, ...text }
  await db.sql
    .insertInto('jobs')
    .values(row as never)
    .execute()
  const tokens = metadataTokens(ACCOUNT, metadata)
  const rows = tokens.map((token) => sql`(${sql.join([token, at, id, kind])})`)
  await sql`insert into job_metadata (token, created_at, id, kind)
    values ${sql.join(rows)}`.execute(db.sql)
}

function utterance(n: number, i: number): IndexedUtterance {
  const terms = say()
  if (i === 0) terms.push(`n${n}`)
  const text = terms.join(' ')
  const speaker = i % 2
  const speakerName = n % 5 === 0 ? nameOf(n + speaker) : null
  if (speakerName !== null) terms.push(toNameTerm(speakerName)!)
  const place = { start: i * 6, end: i * 6 + 5, channel: 0, speaker, speakerName }
  return { ...place, language: 'en', text, terms }
}

function nameOf(n: number): string {
  return `Speaker ${n % NAMES}`
}
