import assert from 'node:assert/strict'
import test from 'node:test'
import type { Page, Request } from 'playwright-core'
import { openBrowser, openPage, signIn, whyNoBrowser } from '../../support/browser.ts'
import { addDoneJob } from '../../support/jobs/done-job.ts'
import { call } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'
import { utteranceOf } from '../../support/text/utterance-of.ts'

const skip = whyNoBrowser() ?? false

/** Stores a recording that failed for a reason. */
async function addFailedJob(server: TestServer, message: string): Promise<void> {
  const id = await addDoneJob(server, [utteranceOf('hello')])
  const post_session_metadata = JSON.stringify({ failure: { message } })
  await server.app.storage.db.sql
    .updateTable('jobs')
    .set({ status: 'error', error_code: 504, result: null, post_session_metadata })
    .where('id', '=', id)
    .execute()
}

/**
 * Holds the first answer to requests for a path, which are made when a page opens and again when
 * its stream of events does. Those after it are answered when `change` has been made.
 */
async function holdFirst(page: Page, path: RegExp, change: () => Promise<unknown>) {
  const held = Promise.withResolvers<void>()
  const changed = Promise.withResolvers<void>()
  let first: Request | undefined
  await page.route(path, async (route) => {
    if (first) {
      await changed.promise
      return route.continue()
    }
    first = route.request()
    const response = await route.fetch()
    await change()
    changed.resolve()
    await held.promise
    await route.fulfill({ response })
  })
  /** Resolves when the page has the answer. */
  return async function letGo(): Promise<void> {
    const finished = page.waitForEvent('requestfinished', (request) => request === first)
    held.resolve()
    await finished
    // What is asked for after it is also read after it.
    await page.evaluate(`fetch('about').then((answer) => answer.text())`)
  }
}

test('an answer that comes late does not replace a newer one', { skip }, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, server.key)
  const addWebhook = () => call(server, '/v2/endpoints', { json: { url: 'http://a.example/' } })
  for (const [name, path, change, shown] of [
    ['failures', /v2\/transcription\?/, () => addFailedJob(server, 'too loud'), 'too loud'],
    ['deliveries', /v2\/endpoints\?/, addWebhook, 'http://a.example/'],
  ] as const) {
    const letGo = await holdFirst(page, path, change)
    await page.goto(`${server.url}/#/${name}`)
    await page.getByText(shown).waitFor()
    await letGo()
    assert.ok(await page.getByText(shown).isVisible(), name)
    await page.unroute(path)
  }
  assert.deepEqual(problems, [])
})
