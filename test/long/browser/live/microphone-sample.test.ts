import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'node:test'
import { createToneWav } from '../../../support/audio/recordings.ts'
import { openBrowser, openPage, whyNoBrowser } from '../../../support/browser.ts'
import { call } from '../../../support/net/http-client.ts'
import { samplesOf } from '../../../support/samples/samples.ts'
import { startServer } from '../../../support/server/start-server.ts'
import { makeFolder } from '../../../support/storage/test-storage.ts'

type Transcript = { is_final: boolean; utterance: { text: string } }
type Sample = {
  sendMicrophone(url: string, onTranscript: (transcript: Transcript) => void): Promise<() => void>
}

test('the microphone sample of the documentation sends speech and stops', {
  skip: whyNoBrowser() ?? false,
}, async (t) => {
  const sample = samplesOf('docs/migration.md').find(({ file }) => file === 'microphone.mjs')
  assert.ok(sample)
  const microphone = join(await makeFolder(t), 'microphone.wav')
  writeFileSync(microphone, createToneWav(20))
  const server = await startServer()
  t.after(() => server.close())
  const site = createServer(({ url }, response) => {
    const isScript = url === '/microphone.mjs'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? sample.code : '<!doctype html><title>A page</title>')
  }).listen(0, '127.0.0.1')
  t.after(() => site.close())
  await once(site, 'listening')

  const headers = { 'content-type': 'application/json' }
  // Only the stop ends an utterance in time.
  const body = JSON.stringify({
    messages_config: { receive_partial_transcripts: true },
    maximum_duration_without_endpointing: 60,
  })
  const session = await call<{ id: string; url: string }>(server, '/v2/live', {
    method: 'POST',
    headers,
    body,
  })
  const browser = await openBrowser(t, { microphone })
  const address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
  const { page, problems } = await openPage(browser, address, { permissions: ['microphone'] })
  const sent = await page.evaluate(async (url) => {
    const { sendMicrophone } = (await import('/microphone.mjs' as string)) as Sample
    const { promise: partial, resolve: onPartial } = Promise.withResolvers<void>()
    const { promise: final, resolve: onFinal } = Promise.withResolvers<void>()
    const stop = await sendMicrophone(url, ({ is_final, utterance }) => {
      if (utterance.text.includes('hello')) is_final ? onFinal() : onPartial()
    })
    await partial
    const kinds: string[] = []
    const { send } = WebSocket.prototype
    WebSocket.prototype.send = function (message) {
      kinds.push(typeof message)
      send.call(this, message)
    }
    stop()
    await final
    return kinds
  }, session.body.url)
  assert.deepEqual(sent, ['object', 'string'], 'the last audio, then the stop')
  assert.deepEqual(problems, [])
})
