import assert from 'node:assert/strict'
import test from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { kill, startChild } from '../../support/child-server.ts'
import { filesHolding } from '../../support/folder-search.ts'
import { call, upload } from '../../support/http-client.ts'
import { noise, waveOf } from '../../support/noise.ts'
import { createRandom } from '../../support/random.ts'
import { openReceiver } from '../../support/receiver.ts'
import { rounds, SEED } from '../../support/rounds.ts'
import { makeFolder } from '../../support/test-storage.ts'

const KILLS = rounds(4)
const JOBS_PER_START = 4

test('no result is lost and nothing stays, however often the server is killed', async (t) => {
  const random = createRandom(SEED)
  const folder = await makeFolder(t)
  const accepted = new Map<string, string>()
  const receiver = await openReceiver(({ body }) => {
    if (random() < 0.3) return 500
    accepted.set((JSON.parse(body) as { id: string }).id, body)
    return 200
  })
  t.after(() => receiver.close())
  const env = {
    STENO_ZERO_RETENTION: 'true',
    STENO_ALLOW_PRIVATE_NETWORK: 'true',
    FAKE_TEXT: 'The satellite Umbriel is dark.',
    FAKE_RETRY_MS: '50',
  }
  const samples = noise(1, SEED)
  const recording = waveOf([samples])
  const needles = [Buffer.from('Umbriel'), Buffer.from(samples.slice(8000, 8064).buffer)]
  const ids = new Set<string>()
  for (let n = 0; n <= KILLS; n++) {
    const server = (await startChild(t, folder, { env }))!
    for (let i = 0; i < JOBS_PER_START; i++) {
      const audio_url = await upload(server, recording)
      const callback_config = { url: `${receiver.url}/job` }
      const json = { audio_url, callback: true, callback_config }
      const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
      ids.add(body.id)
    }
    if (n < KILLS) {
      await delay(random() * 400)
      await kill(server)
      continue
    }
    for (let left = ids.size; left > 0; ) {
      const { body } = await call<{ items: unknown[] }>(server, '/v2/transcription')
      left = body.items.length
      await delay(20)
    }
    server.process.kill('SIGTERM')
    await server.ended
  }
  assert.deepEqual(new Set(accepted.keys()), ids)
  for (const body of accepted.values()) assert.match(body, /Umbriel/)
  assert.deepEqual(await filesHolding(folder, needles), [])
})
