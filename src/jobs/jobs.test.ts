import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createFakeSpeechEngine } from '../../test/support/asr/fake-speech-engine.ts'
import { fakeRecording, oneChunk } from '../../test/support/audio/fake-media.ts'
import { ACCOUNT, openService, type TestService } from '../../test/support/jobs/test-service.ts'
import { createLossyDatabase } from '../../test/support/storage/databases/lossy-database.ts'
import { findJob } from '../storage/jobs/jobs.ts'
import { findRecording } from '../storage/recordings/recordings.ts'
import { JobService } from './job-service.ts'
import type { PipelineDeps } from './pipeline/pipeline-deps.ts'

const account = ACCOUNT
const { signal } = new AbortController()

/** Lists everything that a service has on disk beside the database. */
async function listFiles({ folder }: TestService): Promise<string[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true })
  return names
    .filter((name) => name.isFile() && !/^(steno\.sqlite|server\.lock)/.test(name.name))
    .map((name) => name.name)
}

test('a queued job waits for the start and ends with its transcript', async (t) => {
  const service = await openService(t)
  const id = await service.submit({ seconds: 7 }, { customMetadata: { team: 'red' } })
  const before = await findJob(service.storage.db, { id, account })
  assert.equal(before?.status, 'queued')
  await service.jobs.start()
  const job = await service.ended(id)
  assert.equal(job.status, 'done')
  assert.deepEqual(job.customMetadata, { team: 'red' })
  const { transcription, metadata } = job.result as Record<string, Record<string, unknown>>
  assert.equal(transcription?.full_transcript, 'hello world hello world')
  assert.equal(metadata?.audio_duration, 7)
  assert.ok(job.completedAt! >= job.createdAt)
  assert.deepEqual(await readdir(join(service.folder, 'work')), [], 'no stages are left')
})

test('a submitted job is started immediately, and all of many end', async (t) => {
  const service = await openService(t)
  await service.jobs.start()
  const ids = []
  for (let i = 0; i < 12; i++) ids.push(await service.submit({ seconds: 6 }))
  for (const id of ids) assert.equal((await service.ended(id)).status, 'done')
})

test('an untranscribable request is rejected before it is queued', async (t) => {
  const speech = createFakeSpeechEngine('bonjour', { languages: ['en', 'fr'] })
  const service = await openService(t, { speech, env: { STENO_MAX_QUEUED_JOBS: '1' } })
  const language = { language_config: { languages: ['xx'] } }
  const french = { language_config: { languages: ['en', 'fr'] } }
  const cases = [
    [{ params: { pii_redaction: true, ...french } }, 'feature_not_configured'],
    [{ params: language }, 'language_not_installed'],
    [{ fileId: randomUUID() }, 'file_not_found'],
  ] as const
  for (const [request, code] of cases) {
    await assert.rejects(service.submit({ seconds: 1 }, request), { code })
  }
  await service.submit({ seconds: 1 })
  await assert.rejects(service.submit({ seconds: 1 }), { code: 'too_many_jobs', retryAfter: 5 })
})

test('the models of a request are chosen once, and again after a failure', async (t) => {
  const fake = createFakeSpeechEngine('bonjour', { languages: ['fr'] })
  let chosen = 0
  const selectModels: typeof fake.selectModels = (request) => {
    chosen++
    return fake.selectModels(request)
  }
  const { jobs } = await openService(t, { speech: { ...fake, selectModels } })
  const source = 'https://a.example/b.mp3'
  const request = { params: {}, customMetadata: null, fileId: null, source }
  assert.deepEqual(jobs.service.warningsOf(request), [])
  await jobs.service.submit(account, request)
  assert.equal(chosen, 1)
  const unknown = { ...request, params: { language_config: { languages: ['xx'] } } }
  const code = 'language_not_installed'
  assert.throws(() => jobs.service.warningsOf(unknown), { code })
  await assert.rejects(jobs.service.submit(account, unknown), { code })
  assert.equal(chosen, 3)
})

test('an upload of another account cannot be used', async (t) => {
  const { jobs } = await openService(t)
  const upload = { filename: null, body: fakeRecording({ seconds: 1 }), signal }
  const { id: fileId } = await jobs.service.upload('other', upload)
  const request = { params: {}, customMetadata: null, fileId, source: null }
  await assert.rejects(jobs.service.submit(account, request), { code: 'file_not_found' })
  await jobs.service.submit('other', request)
})

test('an upload is described from its content', async (t) => {
  const { jobs, storage } = await openService(t)
  const body = fakeRecording({ seconds: 3, channels: 2 })
  const file = await jobs.service.upload(account, { filename: 'talk.wav', body, signal })
  assert.deepEqual(await findRecording(storage.db, { id: file.id, account }), file)
  const { filename, source, extension, duration, channels } = file
  assert.deepEqual([filename, source, extension], ['talk.wav', null, 'wav'])
  assert.deepEqual([duration, channels], [3, 2])
})

test('an empty, oversized or invalid upload leaves no files', async (t) => {
  const service = await openService(t, { env: { STENO_MAX_FILE_BYTES: '100' } })
  const cases = [
    ['', 'upload_invalid'],
    ['x'.repeat(101), 'media_too_large'],
    ['no recording', 'media_unsupported'],
  ] as const
  for (const [text, code] of cases) {
    const upload = { filename: null, body: oneChunk(Buffer.from(text)), signal }
    await assert.rejects(service.jobs.service.upload(account, upload), { code })
  }
  assert.deepEqual(await listFiles(service), [])
})

test('the start removes checkpoints of deleted jobs', async (t) => {
  const service = await openService(t)
  await mkdir(join(service.folder, 'work', randomUUID(), 'pcm'), { recursive: true })
  await service.jobs.start()
  assert.deepEqual(await readdir(join(service.folder, 'work')), [])
})

test('an unused upload is deleted after its time to live, a used one is kept', async (t) => {
  const service = await openService(t, { env: { STENO_UPLOAD_TTL_S: '1' } })
  const id = await service.submit({ seconds: 1 })
  const upload = { filename: null, body: fakeRecording({ seconds: 1 }), signal }
  const unused = await service.jobs.service.upload(account, upload)
  await service.jobs.start()
  while (await findRecording(service.storage.db, { id: unused.id, account })) await delay(20)
  const { file } = await service.ended(id)
  while ((await listFiles(service)).length > 1) await delay(20)
  await service.close()
  assert.deepEqual(await listFiles(service), [file!.id])
})

test('a job past its retention is deleted with its files, a recent one is kept', async (t) => {
  const service = await openService(t, { env: { STENO_RETENTION_DAYS: '2' } })
  const { db } = service.storage
  await service.jobs.start()
  const [old, recent] = [await service.submit({ seconds: 1 }), await service.submit({ seconds: 1 })]
  await service.ended(old)
  const { file } = await service.ended(recent)
  await service.jobs.close()
  const longAgo = Date.now() - 2 * 86_400_000
  await db.sql
    .updateTable('jobs')
    .set({ completed_at: longAgo - 1 })
    .where('id', '=', old)
    .execute()
  await service.close()

  const later = await openService(t, { folder: service.folder, env: { STENO_RETENTION_DAYS: '2' } })
  await later.jobs.start()
  while (await findJob(later.storage.db, { id: old, account })) await delay(20)
  await later.close()
  assert.deepEqual(await listFiles(service), [file!.id])
})

test('a repeated idempotent request returns the same job, a changed one conflicts', async (t) => {
  const { jobs } = await openService(t)
  const idempotency = { account, key: 'k', fingerprint: 'one' }
  const request = { params: {}, customMetadata: null, fileId: null, source: 'https://a.example/b' }
  const first = await jobs.service.submit(account, { ...request, idempotency })
  assert.deepEqual(await jobs.service.findByIdempotencyKey(idempotency), first)
  assert.deepEqual(await jobs.service.submit(account, { ...request, idempotency }), first)
  const other = { ...idempotency, fingerprint: 'two' }
  await assert.rejects(jobs.service.findByIdempotencyKey(other), { code: 'idempotency_conflict' })
  await assert.rejects(jobs.service.submit(account, { ...request, idempotency: other }), {
    code: 'idempotency_conflict',
  })
})

test('deleting a job removes its row, result and recording', async (t) => {
  const service = await openService(t)
  await service.jobs.start()
  // Long enough for its result to be stored as an object.
  const id = await service.submit({ seconds: 9000 - 900 })
  const { result } = await service.ended(id)
  assert.ok(JSON.stringify(result).length > 256 * 1024)
  // As if the server had been killed between storing the result and removing the checkpoints.
  await mkdir(join(service.folder, 'work', id))
  await writeFile(join(service.folder, 'work', id, 'ch0.pcm'), 'sound')
  await service.jobs.service.remove({ id, account })
  assert.equal(await findJob(service.storage.db, { id, account }), undefined)
  assert.deepEqual(await listFiles(service), [])
  await assert.rejects(service.jobs.service.remove({ id, account }), { code: 'job_not_found' })
})

test('a job can be deleted while the object store is unavailable', async (t) => {
  const service = await openService(t)
  await service.jobs.start()
  const id = await service.submit({ seconds: 1 })
  await service.ended(id)
  const away = () => Promise.reject(new Error('away'))
  t.mock.method(service.storage.db.objects, 'delete', away)
  await service.jobs.service.remove({ id, account })
  await assert.rejects(service.jobs.service.remove({ id, account }), { code: 'job_not_found' })
})

test("a job is deleted completely although the database's response is lost", async (t) => {
  const service = await openService(t)
  await service.jobs.start()
  const id = await service.submit({ seconds: 9000 - 900 })
  await service.ended(id)
  const { db, objects } = service.storage
  const lossy = createLossyDatabase(db)
  const deps = { db: lossy.db, workFolder: service.folder } as PipelineDeps
  const waiters = { ended: async () => {} }
  const deleted: string[] = []
  const onDeleted = (jobId: string) => deleted.push(jobId)
  const jobs = new JobService({ deps, runner: undefined, waiters, onDeleted })
  lossy.loseNext()
  await assert.rejects(jobs.remove({ id, account: 'other' }), /Connection terminated/)
  assert.deepEqual(deleted, [])
  lossy.loseNext()
  await assert.rejects(jobs.remove({ id, account }), /Connection terminated/)
  assert.deepEqual(await Array.fromAsync(objects.list()), [])
  assert.deepEqual(deleted, [id])
  await assert.rejects(jobs.remove({ id, account }), { code: 'job_not_found' })
})

test('a recording is deleted with the last job that uses it', async (t) => {
  const service = await openService(t)
  await service.jobs.start()
  const first = await service.submit({ seconds: 1 })
  const fileId = (await service.ended(first)).file!.id
  const second = await service.submit({ seconds: 1 }, { fileId })
  await service.ended(second)
  await service.jobs.service.remove({ id: first, account })
  await service.storage.objects.check(fileId)
  await service.jobs.service.remove({ id: second, account })
  await assert.rejects(service.storage.objects.check(fileId), { code: 'file_not_found' })
})

test('a job that has not ended cannot be deleted', async (t) => {
  const { jobs, submit } = await openService(t)
  const id = await submit({ seconds: 1 })
  await assert.rejects(jobs.service.remove({ id, account }), { code: 'job_active' })
  await assert.rejects(jobs.service.remove({ id, account: 'other' }), { code: 'job_not_found' })
  await assert.rejects(jobs.service.remove({ id, account, kind: 'live' }), {
    code: 'job_not_found',
  })
})

test('a closing service accepts no jobs', async (t) => {
  const service = await openService(t)
  const id = await service.submit({ seconds: 1 })
  const file = (await findJob(service.storage.db, { id, account }))!.file!
  await service.jobs.close()
  const request = { params: {}, customMetadata: null, fileId: file.id, source: null }
  await assert.rejects(service.jobs.service.submit(account, request), {
    code: 'server_stopping',
  })
})
