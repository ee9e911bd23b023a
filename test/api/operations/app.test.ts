import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createApp } from '../../../src/app/app.ts'
import { readConfig } from '../../../src/config/config.ts'
import { createLog } from '../../../src/observability/log.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'

test('a failed app construction closes its parts and can be repeated', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const config = readConfig({ STENO_DATA_DIR: folder })
  const log = createLog('silent')
  let closed = 0
  const speech = {
    ...createFakeSpeechEngine('hello'),
    get workers(): number {
      throw new Error('no workers')
    },
    async close() {
      closed++
    },
  }
  await assert.rejects(createApp(config, { speech, log }), /no workers/)
  assert.equal(closed, 1)

  const app = await createApp(config, { speech: createFakeSpeechEngine('hello'), log })
  await app.close()
  await app.close()
})
