import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import test from 'node:test'
import { createToneWav } from '../../support/audio/recordings.ts'
import { chunksOf, synthesizeAudio } from '../../support/audio/synthesize-audio.ts'
import { connect, openSession } from '../../support/live/clients/live-client.ts'
import { call, sendRaw, upload } from '../../support/net/http-client.ts'
import { captureLog } from '../../support/server/captured-log.ts'
import { startServer } from '../../support/server/start-server.ts'

/** A text that is in the log only when somebody put it there. */
function generateSecret(): string {
  return randomBytes(18).toString('hex')
}

test('no secret is logged at level trace for any request', async (t) => {
  const { log, lines } = captureLog()
  const [key, wrongKey, metricsToken] = [generateSecret(), generateSecret(), generateSecret()]
  const [inQuery, inUser, inPath] = [generateSecret(), generateSecret(), generateSecret()]
  const signing = `whsec_${randomBytes(32).toString('base64')}`
  // Nothing listens there: fetches and deliveries fail, and say why.
  const nowhere = `http://${inUser}:${inUser}@127.0.0.1:9/${inPath}?token=${inQuery}`
  const env = {
    STENO_API_KEYS: `test:${key}`,
    STENO_METRICS_TOKEN: metricsToken,
    STENO_WEBHOOK_SECRETS: `test:${signing}`,
    STENO_WEBHOOKS: `test=${nowhere}`,
    STENO_JOB_MAX_ATTEMPTS: '1',
  }
  const server = { ...(await startServer({ log, env })), key }
  t.after(() => server.close())
  const request = (path: string, options = {}) => call(server, path, options)

  const json = { audio_url: await upload(server, createToneWav(6)), callback_url: nowhere }
  const { body } = await request('/v2/pre-recorded', { json })
  await request('/v2/pre-recorded', { json: { audio_url: nowhere } })
  await request('/v2/upload', { json: { audio_url: nowhere } })
  await request('/v2/upload', { method: 'POST', body: new FormData() })
  await call({ ...server, key: wrongKey }, '/v2/upload', { json: {} })
  for (const path of ['pre-recorded', 'live', 'transcription', 'deliveries', 'endpoints']) {
    await request(`/v2/${path}?limit=1`)
    await request(`/v2/${path}/${body.id}?token=${inQuery}`)
    await request(`/v2/${path}/${body.id}`, { method: 'DELETE' })
    await request(`/v2/${path}?api_key=${wrongKey}`, { json: { key: wrongKey } })
  }
  await request(json.audio_url)
  await request(`/nowhere/${wrongKey}?token=${inQuery}`)
  await request('/metrics', { headers: { authorization: `Bearer ${metricsToken}` } })
  await request('/metrics', { headers: { authorization: `Bearer ${wrongKey}` } })
  await sendRaw(server, `GET / HTTP/1.1\r\nx-service-key: ${wrongKey}\r\nhost: a\r\nbad\r\n\r\n`)

  const { url } = await openSession(server, { callback: true, callback_config: { url: nowhere } })
  const client = await connect(url)
  for (const chunk of chunksOf(synthesizeAudio('....##########.....'), 3200)) client.send(chunk)
  client.stop()
  await client.closed
  await (await connect(`${url}${wrongKey}`)).closed
  await server.app.jobs.idle()
  await server.close()

  assert.ok(lines.length > 30)
  const text = JSON.stringify(lines)
  const token = new URL(url).searchParams.get('token')!
  const secrets = { key, wrongKey, metricsToken, inQuery, inUser, inPath, signing, token }
  for (const [name, secret] of Object.entries(secrets)) {
    const found = lines.filter((line) => JSON.stringify(line).includes(secret))
    assert.deepEqual(found, [], name)
  }
  assert.ok(!text.includes('hello world'), 'what was said')
})
