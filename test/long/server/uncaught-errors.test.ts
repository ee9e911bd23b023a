import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { startChild } from '../../support/server/child-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

test('an uncaught error is logged and ends the server, and the next one continues', async (t) => {
  const folder = await makeFolder(t)
  const env = { FAKE_BATCH_MS: '600000' }
  const server = (await startChild(t, folder, { env, silent: true }))!
  const log = text(server.process.stderr!)
  const json = { audio_url: await upload(server, createToneWav(1)) }
  const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  server.process.send('surprise')
  assert.deepEqual(await server.ended, { code: 1, signal: null })
  const [line = ''] = (await log).trim().split('\n')
  const { level, err, msg } = JSON.parse(line)
  assert.deepEqual([level, err.message], [60, 'surprise'])
  assert.equal(msg, 'unexpected error, the server exits')

  const next = (await startChild(t, folder))!
  for (let done = false; !done; await delay(10)) {
    done = (await call(next, `/v2/pre-recorded/${body.id}`)).body.status === 'done'
  }
})
