import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { generateKey } from '../../../../src/api/auth/generate-key.ts'
import { createToneWav } from '../../../support/audio/recordings.ts'
import { openBrowser, openPage, signIn, untilTrue, whyNoBrowser } from '../../../support/browser.ts'
import { addDoneJob } from '../../../support/jobs/done-job.ts'
import { call, upload } from '../../../support/net/http-client.ts'
import { startServer } from '../../../support/server/start-server.ts'
import { utteranceOf } from '../../../support/text/utterance-of.ts'

const skip = whyNoBrowser() ?? false

/** Serves an attacker's page: the same host on another port, so that browsers send the cookie. */
async function serveAttack(t: TestContext, target: string, id: string): Promise<string> {
  const attack = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end(`<!doctype html><title>attack</title>
      <iframe id="frame" src="${target}/"></iframe>
      <form id="form" method="post" action="${target}/v2/keys" enctype="text/plain" target="out">
        <input name='{"scopes":["read"],"name":"stolen","x":"' value='"}'>
      </form><iframe id="out" name="out"></iframe>
      <script>
        const send = (path, options) => fetch('${target}' + path, { credentials: 'include', ...options })
          .then((answer) => answer.text(), (error) => 'refused: ' + error)
        const opened = (path) => new Promise((done) => {
          const socket = new WebSocket('${target}'.replace('http', 'ws') + path)
          socket.onopen = () => done('open')
          socket.onerror = () => done('refused')
        })
        onload = async () => {
          const posted = new Promise((done) => { document.querySelector('#out').onload = done })
          document.querySelector('#form').submit()
          await posted
          window.result = {
            read: await send('/v2/pre-recorded'),
            signIn: await send('/v2/sign-in'),
            blind: await send('/v2/pre-recorded/${id}', { method: 'DELETE' }),
            made: await send('/v2/endpoints', { method: 'POST', mode: 'no-cors', body: '{"url":"http://a.example/"}' }),
            socket: await opened('/v1/realtime?intent=transcription'),
          }
        }
      </script>`)
  })
  await once(attack.listen(0, '127.0.0.1'), 'listening')
  t.after(() => attack.close().closeAllConnections())
  return `http://127.0.0.1:${(attack.address() as AddressInfo).port}/`
}

test("a page of another origin cannot read or write with a visitor's sign-in", {
  skip,
}, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const { db } = server.app.storage
  const { key } = await generateKey(db, {
    account: 'test',
    scopes: ['read', 'write', 'live', 'keys'],
  })
  const id = await addDoneJob(server, [utteranceOf('nobody else may read this')])
  const browser = await openBrowser(t)
  const { page } = await openPage(browser, server.url)
  await signIn(page, key)
  const [cookie] = await page.context().cookies()
  assert.deepEqual(
    [cookie!.httpOnly, cookie!.sameSite, cookie!.name],
    [true, 'Strict', 'steno_sign_in'],
  )
  assert.equal(await page.evaluate('document.cookie'), '')

  await page.goto(await serveAttack(t, server.url, id))
  await untilTrue(page, 'window.result')
  const result = (await page.evaluate('window.result')) as Record<string, string>
  assert.match(result.read!, /^refused/)
  assert.match(result.signIn!, /^refused/)
  assert.match(result.blind!, /^refused/)
  assert.equal(result.socket, 'refused')
  assert.equal(await page.frameLocator('#frame').locator('main').count(), 0)

  const keys = await db.sql.selectFrom('keys').select('name').execute()
  assert.deepEqual(keys, [{ name: null }])
  const target = { url: server.url, key }
  assert.equal((await call(target, `/v2/pre-recorded/${id}`)).status, 200)
  assert.deepEqual((await call<{ items: unknown[] }>(target, '/v2/endpoints')).body.items, [])
})

const markup = '"><img src=x onerror="window.hacked=1"><script>window.hacked=1</script>'
const bidi = '\u202Egnp.exe\u2066'

test('hostile names of files, speakers, webhooks and keys are shown as text', {
  skip,
}, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const { db } = server.app.storage
  const scopes = ['read', 'write', 'live', 'keys'] as const
  const { key } = await generateKey(db, { account: 'test', name: markup, scopes })
  const fileId = (await upload(server, createToneWav(2))).split('/').at(-1)!
  const id = await addDoneJob(server, [utteranceOf('some words', { speaker: 0 })], { fileId })
  await db.sql
    .updateTable('jobs')
    .set({
      file_filename: `${markup}${bidi}`,
      custom_metadata: JSON.stringify({ [markup]: bidi }),
    })
    .where('id', '=', id)
    .execute()
  const operations = [{ op: 'name_speaker', speaker: 0, name: markup }]
  await call(server, `/v2/pre-recorded/${id}/transcript/edits`, {
    method: 'PATCH',
    json: { base_version: 0, operations },
  })
  await call(server, '/v2/endpoints', { json: { url: 'http://a.example/', name: markup } })
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, key)
  // Where each page shows them, and no page before it.
  for (const [path, place, shown] of [
    ['', 'table.list', markup],
    [`pre-recorded/${id}`, '.speaker', markup],
    ['deliveries', 'tr:has-text("http://a.example/")', markup],
    ['keys', 'tr:has(code)', markup],
    [`search/${encodeURIComponent(markup)}`, '.empty', 'A new transcript can be found'],
    [`search/words?metadata=${encodeURIComponent(markup)}&from=x&speaker=y`, '.empty', 'in these'],
    [`shared/${encodeURIComponent(markup)}`, '[role=alert]', 'This link has expired'],
  ] as const) {
    await page.goto(`${server.url}/#/${path}`)
    await page.locator(place, { hasText: shown }).waitFor()
    assert.equal(await page.evaluate('window.hacked'), undefined, path)
    assert.equal(await page.locator('img, main script').count(), 0, path)
    const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    assert.ok((wide as number) <= 0, `${path}: names do not widen the page`)
  }
  // The name of an exported file ends in what it is, whatever the name of the recording.
  const { headers } = await call(server, `/v2/pre-recorded/${id}/transcript?format=srt`)
  const disposition = decodeURIComponent(headers.get('content-disposition') ?? '')
  assert.match(disposition, /\.srt"?$/)
  assert.doesNotMatch(disposition, /[\u202A-\u202E\u2066-\u2069]/)
  assert.deepEqual(problems, [])
})
