import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import test from 'node:test'
import { decodeMedia } from '../../../src/audio/decode-media.ts'
import { probeMedia } from '../../../src/audio/probe-media.ts'
import { findJob } from '../../../src/storage/jobs/jobs.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { oneChunk } from '../../support/audio/fake-media.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { ACCOUNT, openService } from '../../support/jobs/test-service.ts'
import { createMemoryObjects } from '../../support/storage/objects/memory-objects.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

const LONG_TEXT = 'hello world '.repeat(30_000)

test('a job runs from upload to deletion on a remote object store', async (t) => {
  const copies = await makeFolder(t)
  const objects = createMemoryObjects(copies)
  const media = { probe: probeMedia, decode: decodeMedia }
  const speech = createFakeSpeechEngine(LONG_TEXT)
  const { jobs, storage, folder, ended } = await openService(t, { objects, media, speech })
  await jobs.start()
  const { signal } = new AbortController()
  const upload = { filename: 'hum.wav', body: oneChunk(createToneWav(4)), signal }
  const { id: fileId } = await jobs.service.upload(ACCOUNT, upload)
  const params = { pii_redaction: true, pii_redaction_config: { audio: true } }
  const request = { params, customMetadata: null, fileId, source: null }
  const { id } = await jobs.service.submit(ACCOUNT, request)

  const job = await ended(id)
  assert.equal(job.status, 'done')
  assert.ok(JSON.stringify(job.result).includes('hello world hello world'))
  const stored = (await findJob(storage.db, { id, account: ACCOUNT }))!
  const result = (stored.result as { object: string }).object
  const { object: redacted, size } = job.redactedAudio!
  assert.deepEqual((await Array.fromAsync(objects.list())).flat().sort(), [result, redacted].sort())
  const wave = await buffer((await objects.read(redacted)).body)
  assert.deepEqual([wave.length, wave.toString('latin1', 0, 4)], [size, 'RIFF'])

  await jobs.service.remove({ id, account: ACCOUNT })
  assert.deepEqual(await Array.fromAsync(objects.list()), [])
  assert.deepEqual(await readdir(copies), [], 'no local copy is left')
  await assert.rejects(readdir(join(folder, 'objects')), { code: 'ENOENT' })
})
