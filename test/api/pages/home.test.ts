import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readProgramVersion } from '../../../src/config/version.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server.close())

const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'

test('a browser gets pages that need no key', async () => {
  const page = await fetch(`${server.url}/about`, { headers: { accept } })
  assert.equal(page.status, 200)
  assert.match(page.headers.get('content-type')!, /^text\/html/)
  const text = await page.text()
  const links = [...text.matchAll(/<a href="([^"]+)"/g)].map(([, link]) => link!)
  assert.deepEqual(links, ['./', 'guide', 'docs', 'openapi.json', 'ready'])
  for (const link of links) {
    const linked = await fetch(new URL(link, `${server.url}/`), { headers: { accept } })
    assert.equal(linked.status, 200, link)
    assert.match(linked.headers.get('content-type')!, link === './' ? /^text\/html/ : /./)
    await linked.body?.cancel()
  }
  assert.ok(text.includes(`${server.url}/v2/upload`))
})

test('a program gets the API links and the key header from the root', async () => {
  const response = await fetch(server.url, { headers: { accept: '*/*' } })
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type')!, /^application\/json/)
  assert.equal(response.headers.get('vary'), 'accept')
  const text = await response.text()
  assert.match(text, /\n$/, 'a shell shows its prompt on a line of its own')
  const { links, ...rest } = JSON.parse(text)
  const key = { 'x-service-key': server.key }
  assert.deepEqual(rest, {
    name: 'Steno',
    version: readProgramVersion(),
    authentication:
      "Send a key in the header x-service-key. The command 'npx steno keys create' creates one",
  })
  assert.deepEqual(Object.keys(links), [
    ...['dashboard', 'documentation', 'reference', 'openapi', 'ready', 'capabilities'],
    ...['upload', 'pre_recorded', 'live'],
  ])
  for (const [name, link] of Object.entries<string>(links)) {
    const linked = await fetch(link, { headers: { ...key, accept } })
    assert.equal(linked.status, name === 'upload' ? 405 : 200, link)
    await linked.body?.cancel()
  }
})

test('only GET and HEAD are served at the root', async () => {
  assert.equal((await fetch(server.url, { method: 'HEAD' })).status, 200)
  assert.equal((await fetch(server.url, { method: 'POST', headers: { accept } })).status, 404)
})

test('the host name is escaped in the page', async () => {
  const page = await fetch(`${server.url}/about`, { headers: { accept, host: 'x' } })
  assert.doesNotMatch(await page.text(), /<script/)
})

test('the result of a job names the ignored fields of its request', async () => {
  const audio_url = await upload(server, createToneWav(1))
  const json = { audio_url, languages: ['en'], words_accurate_timestamps: true }
  const { id } = (await call(server, '/v2/pre-recorded', { json })).body
  await server.app.jobs.idle()
  const { result } = (await call(server, `/v2/pre-recorded/${id}`)).body
  const warning = 'unknown fields of the request were ignored: languages'
  const legacy = 'fields of the request have no effect: words_accurate_timestamps'
  const { warnings } = (result as { metadata: { warnings: string[] } }).metadata
  assert.deepEqual(warnings, [warning, legacy])
})

test('x-steno-warning names ignored fields and options without effect', async () => {
  const audio_url = await upload(server, createToneWav(1))
  const warningOf = async (json: Record<string, unknown>, path = '/v2/pre-recorded') => {
    const { status, headers } = await call(server, path, { json })
    assert.equal(status, 201)
    return headers.get('x-steno-warning')
  }
  const mistyped = { diarisation: true, subtitles_config: { formates: ['srt'] } }
  const warning = 'ignored: subtitles_config.formates, diarisation'
  assert.equal(await warningOf({ audio_url, ...mistyped }), warning)
  const legacy = {
    diarization_enhanced: true,
    diarization_config: { enhanced: true },
    context_prompt: 'a call',
    audio_enhancer: false,
    chapterization_config: null,
  }
  const unused = 'ignored: diarization_config.enhanced, diarization_enhanced, context_prompt'
  assert.equal(await warningOf({ audio_url, ...legacy }), unused)
  const processing = { post_processing: { chapterization: true } }
  assert.equal(await warningOf(processing, '/v2/live'), 'ignored: post_processing.chapterization')
  assert.equal(await warningOf({ post_processing: {} }, '/v2/live'), null)
  assert.equal(await warningOf({ 'sample\nrate': 1 }, '/v2/live'), 'ignored: sample_rate')
  const switching = { language_config: { code_switching: true } }
  const withoutEffect = /^language_config: .+ supports only en, so code_switching has no effect$/
  assert.match((await warningOf({ audio_url, ...switching }))!, withoutEffect)
  assert.match((await warningOf(switching, '/v2/live'))!, withoutEffect)
})
