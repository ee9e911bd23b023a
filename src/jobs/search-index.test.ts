import assert from 'node:assert/strict'
import test from 'node:test'
import { addJob, claim } from '../../test/support/jobs/test-jobs.ts'
import { openTestStorage } from '../../test/support/storage/test-storage.ts'
import { AppError } from '../errors.ts'
import { createLog } from '../observability/log.ts'
import type { Db } from '../storage/database/db.ts'
import { finishJob } from '../storage/jobs/finish-job.ts'
import { MAX_INLINE_RESULT_BYTES } from '../storage/jobs/results.ts'
import { findUnindexed } from '../storage/search/utterance-index.ts'
import type { SearchedResult } from '../text/search/searchable-utterances.ts'
import { indexFinishedJobs } from './search-index.ts'

const { signal } = new AbortController()
const log = createLog('silent')
/** So long that the result is an object. */
const padding = 'x'.repeat(MAX_INLINE_RESULT_BYTES)

/** Says the `text` of each result. */
const resultBuilder = {
  async searchable({ result }: SearchedResult) {
    const { text } = JSON.parse(result) as { text: string }
    const place = { start: 0, end: 1, channel: 0, speaker: null, speakerName: null, language: 'en' }
    return [{ ...place, text, terms: [text] }]
  },
}

async function addDoneJobs(db: Db, results: readonly object[]): Promise<void> {
  for (const result of results) {
    await addJob(db)
    const { lease } = (await claim(db))!
    await finishJob(db, lease, { result: { ...result }, at: 2000 })
  }
}

async function indexedTexts(db: Db): Promise<string[]> {
  const rows = await db.sql.selectFrom('utterances').select('text').orderBy('text').execute()
  return rows.map(({ text }) => text)
}

test('a result that cannot be read does not keep other jobs from the index', async (t) => {
  const { db } = await openTestStorage(t)
  await addDoneJobs(db, [{ text: 'damaged', padding }, { text: 'readable' }])
  const read = async () => {
    throw new AppError('storage_unreadable', 'EIO')
  }
  const damaged = { ...db, objects: { ...db.objects, read } }
  await indexFinishedJobs({ db: damaged, resultBuilder, log, signal })
  assert.deepEqual(await indexedTexts(db), ['readable'])
  assert.deepEqual(await findUnindexed(db, { limit: 10 }), [])
})

test('a result in a store that is unavailable is indexed later', async (t) => {
  const { db } = await openTestStorage(t)
  await addDoneJobs(db, [{ text: 'remote', padding }])
  const read = async () => {
    throw new AppError('object_store_unavailable')
  }
  const away = { ...db, objects: { ...db.objects, read } }
  const indexing = indexFinishedJobs({ db: away, resultBuilder, log, signal })
  await assert.rejects(indexing, { code: 'object_store_unavailable' })
  await indexFinishedJobs({ db, resultBuilder, log, signal })
  assert.deepEqual(await indexedTexts(db), ['remote'])
})
