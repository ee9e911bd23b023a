import assert from 'node:assert/strict'
import type { Db } from '../../../src/storage/database/db.ts'
import { inTransaction } from '../../../src/storage/database/db.ts'
import { deleteEndedJob } from '../../../src/storage/jobs/deletion/delete-job.ts'
import { insertTranscriptVersion } from '../../../src/storage/jobs/transcript-edits.ts'
import {
  type SearchFilter,
  searchUtterances,
} from '../../../src/storage/search/search-utterances.ts'
import type { TermPhrase, TermQuery } from '../../../src/storage/search/term-query.ts'
import {
  findRemoved,
  findUnindexed,
  type IndexedUtterance,
  indexUtterances,
  listSearchLanguages,
  removeUtterances,
} from '../../../src/storage/search/utterance-index.ts'
import { addJob } from '../../support/jobs/test-jobs.ts'
import { createSuite } from './suite.ts'

/** The index of what was said. */
export const searchTests = createSuite()
const { test } = searchTests

const account = 'acme'

function phrase(text: string): TermPhrase {
  return { terms: text.replace('*', '').split(' '), isPrefix: text.endsWith('*') }
}

/** Returns a query for phrases, of which those after a minus must not occur. */
function find(...phrases: string[]): TermQuery {
  const must = phrases.filter((text) => !text.startsWith('-')).map(phrase)
  const not = phrases.filter((text) => text.startsWith('-')).map((text) => phrase(text.slice(1)))
  return [{ must, not }]
}

/** Returns an utterance that says `text` in its `n`-th second; its terms are its words. */
function utteranceOf(
  text: string,
  n = 0,
  change: Partial<IndexedUtterance> = {},
): IndexedUtterance {
  const place = {
    start: n,
    end: n + 1,
    channel: 0,
    speaker: null,
    speakerName: null,
    language: 'en',
  }
  return { ...place, text, terms: text.split(' '), ...change }
}

/** Ends a job as a recording that was transcribed. */
async function finish(db: Db, id: string): Promise<void> {
  const change = { status: 'done' as const, completed_at: 9000 }
  await db.sql.updateTable('jobs').set(change).where('id', '=', id).execute()
}

/** Adds a finished job, and indexes what was said. */
async function addIndexed(
  db: Db,
  utterances: readonly IndexedUtterance[],
  given: Parameters<typeof addJob>[1] = {},
): Promise<string> {
  const id = (await addJob(db, { account, ...given }))!
  await finish(db, id)
  await indexUtterances(db, { id, account: given.account ?? account }, utterances)
  return id
}

async function textsOf(db: Db, query: TermQuery, change: Partial<SearchFilter> = {}) {
  const { hits } = await searchUtterances(
    db,
    { account, query, ...change },
    { offset: 0, limit: 100 },
  )
  return hits.map(({ text }) => text)
}

test('old words of a job are searchable until the new ones are indexed', async ({ db }) => {
  const id = await addIndexed(db, [utteranceOf('red house')])
  let isIndexing = true
  const indexing = (async () => {
    for (let n = 0; n < 20; n++)
      await indexUtterances(db, { id, account }, [utteranceOf('red house')])
    isIndexing = false
  })()
  const indexed = () => db.reader.selectFrom('utterances').select('text').execute()
  while (isIndexing) assert.deepEqual(await indexed(), [{ text: 'red house' }])
  await indexing
})

test('a job that was indexed from an old version is indexed again', async ({ db }) => {
  const id = await addIndexed(db, [utteranceOf('red house')])
  const corrected = { operations: 1, changes: '[]', createdAt: 1, keyName: null, restored: null }
  await insertTranscriptVersion(db, { jobId: id, account }, { version: 1, ...corrected })
  // Another process indexes the corrected words first, and takes the job out of the queue.
  await indexUtterances(db, { id, account, version: 1 }, [utteranceOf('blue house')])
  assert.deepEqual(await findUnindexed(db, { limit: 10 }), [])
  await indexUtterances(db, { id, account, version: 0 }, [utteranceOf('red house')])
  assert.deepEqual(await textsOf(db, find('red')), ['red house'])
  const waiting = await findUnindexed(db, { limit: 10 })
  assert.deepEqual(
    waiting.map((job) => job.id),
    [id],
  )
})

test('search supports terms, phrases, prefixes and exclusions', async ({ db }) => {
  await addIndexed(db, [
    utteranceOf('the red house'),
    utteranceOf('the house is red'),
    utteranceOf('a redder house'),
  ])
  assert.deepEqual(await textsOf(db, find('red', 'house')), ['the red house', 'the house is red'])
  assert.deepEqual(await textsOf(db, find('red house')), ['the red house'])
  assert.deepEqual(await textsOf(db, find('red*')), [
    'the red house',
    'the house is red',
    'a redder house',
  ])
  assert.deepEqual(await textsOf(db, find('house', '-the', '-nobody')), ['a redder house'])
  assert.deepEqual(await textsOf(db, [...find('redder'), ...find('is')]), [
    'the house is red',
    'a redder house',
  ])
  assert.deepEqual(await textsOf(db, find('hous')), [])
})

test('terms of any script are found, and none is parsed as an operator', async ({ db }) => {
  const texts = ['naïve café', 'не или', 'हिन्दी में', 'or and not near', '日 本 語', '3 5 kg']
  await addIndexed(
    db,
    texts.map((text, n) => utteranceOf(text, n)),
  )
  for (const text of texts) assert.deepEqual(await textsOf(db, find(text)), [text])
  for (const bad of [`a'b`, 'a"b', 'a:b', 'a b) OR (c', '', '*'])
    await assert.rejects(textsOf(db, [{ must: [{ terms: [bad], isPrefix: false }], not: [] }]))
})

test('search is limited to its account and the filtered jobs', async ({ db }) => {
  await addIndexed(db, [utteranceOf('hello from us')], { createdAt: 1000, metadata: { team: 'a' } })
  await addIndexed(db, [utteranceOf('hello from them')], { account: 'other', createdAt: 2000 })
  await addIndexed(
    db,
    [utteranceOf('hello twice', 0, { speaker: 1, language: 'de' }), utteranceOf('hello again', 1)],
    { createdAt: 3000 },
  )
  const hello = find('hello')
  assert.deepEqual(await textsOf(db, hello), ['hello twice', 'hello again', 'hello from us'])
  assert.deepEqual(await textsOf(db, hello, { account: 'other' }), ['hello from them'])
  assert.deepEqual(await textsOf(db, hello, { account: 'nobody' }), [])
  assert.deepEqual(await textsOf(db, hello, { language: 'de' }), ['hello twice'])
  assert.deepEqual(await textsOf(db, hello, { speaker: 1 }), ['hello twice'])
  assert.deepEqual(await textsOf(db, hello, { before: 3000 }), ['hello from us'])
  assert.deepEqual(await textsOf(db, hello, { from: 2000 }), ['hello twice', 'hello again'])
  assert.deepEqual(await textsOf(db, hello, { metadata: { team: 'a' } }), ['hello from us'])
  assert.deepEqual(await textsOf(db, hello, { kinds: ['live'] }), [])
  assert.deepEqual(await listSearchLanguages(db, account), ['de', 'en'])
})

test('hits are returned in pages with surrounding text', async ({ db }) => {
  const id = await addIndexed(
    db,
    Array.from({ length: 450 }, (_, n) => utteranceOf(`line ${n}`, n)),
  )
  const page = (offset: number) =>
    searchUtterances(db, { account, query: find('line') }, { offset, limit: 3 })
  const first = await page(0)
  assert.deepEqual(
    first.hits.map(({ text }) => text),
    ['line 0', 'line 1', 'line 2'],
  )
  assert.deepEqual([first.more, (await page(447)).more], [true, false])
  const { before, after, ...hit } = first.hits[1]!
  assert.deepEqual([before, after], ['line 0', 'line 2'])
  assert.equal(first.hits[0]!.before, null)
  const who = { channel: 0, speaker: null, speakerName: null }
  const place = { start: 1, end: 2, ...who, language: 'en' }
  const { createdAt, filename, ...rest } = hit
  assert.ok(createdAt > 0 && (filename === null || filename.length > 0))
  assert.deepEqual(rest, { jobId: id, kind: 'pre-recorded', ...place, text: 'line 1' })
})

test('hits in many jobs are sorted newest first, for frequent and rare words', async ({ db }) => {
  // More than are searched first, so that a page is put together from several searches.
  const jobs = 160
  for (let n = 0; n < jobs; n++) {
    const team = n % 2 === 0 ? 'a' : 'b'
    const words = n < 3 ? 'often rare' : 'often'
    const spoken = [
      utteranceOf(`${words} ${n} first`),
      utteranceOf(`${words} ${n} last`, 1, { speaker: n % 4 }),
    ]
    await addIndexed(db, spoken, { createdAt: 1000 + n, metadata: { team } })
  }
  const { estimate } = db.dialect.search
  // As if there were millions of utterances: the index of terms is not read in full.
  for (const isFrequent of [false, true]) {
    const search = { ...db.dialect.search, estimate: isFrequent ? async () => 1e6 : estimate }
    const given: Db = { ...db, dialect: { ...db.dialect, search } }
    const page = async (query: TermQuery, offset: number, change: Partial<SearchFilter> = {}) => {
      const found = await searchUtterances(
        given,
        { account, query, ...change },
        { offset, limit: 3 },
      )
      return found.hits.map(({ text }) => text).concat(found.more ? ['…'] : [])
    }
    const often = find('often')
    assert.deepEqual(await page(often, 0), [
      'often 159 first',
      'often 159 last',
      'often 158 first',
      '…',
    ])
    assert.deepEqual(await page(often, 99), [
      'often 110 last',
      'often 109 first',
      'often 109 last',
      '…',
    ])
    assert.deepEqual(await page(often, 301), ['often 9 last', 'often 8 first', 'often 8 last', '…'])
    assert.deepEqual(await page(find('oft*'), 318), ['often rare 0 first', 'often rare 0 last'])
    assert.deepEqual(await page(often, 318), ['often rare 0 first', 'often rare 0 last'])
    assert.deepEqual(await page(often, 400), [])
    assert.deepEqual(await page(find('rare'), 4), ['often rare 0 first', 'often rare 0 last'])
    assert.deepEqual(await page(often, 98, { metadata: { team: 'b' } }), [
      'often 61 first',
      'often 61 last',
      'often 59 first',
      '…',
    ])
    assert.deepEqual(await page(often, 0, { before: 1002, speaker: 1 }), ['often rare 1 last'])
    assert.deepEqual(await page(often, 39, { speaker: 3 }), ['often 3 last'])
  }
})

test('jobs without the requested speaker or language are not searched', async ({ db }) => {
  await addIndexed(db, [utteranceOf('often said', 0, { speaker: 0, speakerName: 'Zoë' })])
  await addIndexed(db, [utteranceOf('oft gesagt often', 0, { speaker: 1, language: 'de' })])
  const searched: number[] = []
  const { search } = db.dialect
  const counting: typeof search = {
    ...search,
    estimate: async () => 1e6,
    matchSql(accountTerm, query, ids) {
      searched.push(ids?.length ?? 0)
      return search.matchSql(accountTerm, query, ids)
    },
  }
  const given: Db = { ...db, dialect: { ...db.dialect, search: counting } }
  const often = find('often')
  assert.deepEqual(await textsOf(given, often, { speaker: 7 }), [])
  assert.deepEqual(await textsOf(given, often, { speaker: 0, language: 'de' }), [])
  assert.deepEqual(searched, [])
  assert.deepEqual(await textsOf(given, often, { speaker: 1, language: 'de' }), [
    'oft gesagt often',
  ])
  const { hits } = await searchUtterances(
    given,
    { account, query: often, language: 'en' },
    { offset: 0, limit: 9 },
  )
  assert.deepEqual(
    hits.map(({ speakerName }) => speakerName),
    ['Zoë'],
  )
  assert.deepEqual(searched, [1, 1])
})

test('finished jobs are queued for indexing, and deleted ones leave nothing', async ({ db }) => {
  const unfinished = (await addJob(db, { account }))!
  const id = (await addJob(db, { account }))!
  await finish(db, id)
  const waiting = async () => (await findUnindexed(db, { limit: 10 })).map((job) => job.id)
  assert.deepEqual(await waiting(), [id])
  await indexUtterances(db, { id, account }, [
    utteranceOf('gone tomorrow'),
    utteranceOf('gone today', 1),
  ])
  assert.deepEqual(await waiting(), [])
  await indexUtterances(db, { id, account }, [utteranceOf('gone tomorrow')])
  assert.deepEqual(await textsOf(db, find('gone', 'tomorrow')), ['gone tomorrow'], 'only once')

  await inTransaction(db, (tx) => deleteEndedJob(tx, { id, account }))
  assert.deepEqual(await textsOf(db, find('gone')), [])
  await indexUtterances(db, { id, account }, [utteranceOf('gone tomorrow')])
  await indexUtterances(db, { id: unfinished, account }, [utteranceOf('gone tomorrow')])
  for (const removed of await findRemoved(db, { limit: 10 }))
    while (await removeUtterances(db, removed, { limit: 1 }));
  assert.deepEqual(await findRemoved(db, { limit: 10 }), [])
  for (const table of ['utterances', 'search_queue'] as const)
    assert.deepEqual(await db.sql.selectFrom(table).selectAll().execute(), [])
})
