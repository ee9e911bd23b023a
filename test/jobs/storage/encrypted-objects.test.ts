import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import test from 'node:test'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { noise, waveOf } from '../../support/audio/noise.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { startServer } from '../../support/server/start-server.ts'
import { filesHolding } from '../../support/storage/folder-search.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

test('recordings and long results are encrypted at rest and downloaded decrypted', async (t) => {
  const file = join(await makeFolder(t), 'keys')
  await writeFile(file, randomBytes(32).toString('base64'))
  const server = await startServer({
    speech: createFakeSpeechEngine('The satellite Umbriel is dark. '.repeat(1000)),
    env: { STENO_OBJECT_KEY_FILE: file },
  })
  t.after(() => server.close())
  const samples = noise(10, 1)
  const recording = waveOf([samples])
  const audio_url = await upload(server, recording)
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json: { audio_url } })
  await server.app.jobs.idle()

  const job = await call<{ status: string; file: { audio_duration: number } }>(
    server,
    `/v2/pre-recorded/${body.id}`,
  )
  assert.equal(job.body.status, 'done', JSON.stringify(job.body).slice(0, 300))
  assert.equal(job.body.file.audio_duration, 10)
  assert.match(JSON.stringify(job.body), /Umbriel/)
  assert.ok(JSON.stringify(job.body).length > 300_000, 'the result is an object')
  const headers = { 'x-service-key': server.key, range: 'bytes=100000-200000' }
  const part = await fetch(`${server.url}/v2/pre-recorded/${body.id}/file`, { headers })
  assert.equal(part.status, 206)
  assert.deepEqual(new Uint8Array(await part.arrayBuffer()), recording.slice(100_000, 200_001))

  const sound = Buffer.from(samples.slice(80_000, 80_064).buffer)
  assert.deepEqual(await filesHolding(server.folder, [sound]), [])
  // The database has the words for searches, and is not encrypted.
  const readable = await filesHolding(server.folder, [Buffer.from('Umbriel')])
  assert.deepEqual(
    readable.filter((path) => !basename(path).startsWith('steno.sqlite')),
    [],
  )
})
