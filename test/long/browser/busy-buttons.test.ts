import assert from 'node:assert/strict'
import test from 'node:test'
import type { Locator, Request } from 'playwright-core'
import { generateKey } from '../../../src/api/auth/generate-key.ts'
import { openBrowser, openPage, signIn, whyNoBrowser } from '../../support/browser.ts'
import { addDue } from '../../support/delivery/test-deliveries.ts'
import { addDoneJob } from '../../support/jobs/done-job.ts'
import { call } from '../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../support/server/start-server.ts'
import { utteranceOf } from '../../support/text/utterance-of.ts'

const skip = whyNoBrowser() ?? false

/**
 * Presses a button twice with the keyboard while the server does not answer its request, which then
 * fails. The button must keep the focus, and send one request.
 */
async function pressWhileBusy(
  button: Locator,
  { path, method = 'POST' }: { path: RegExp; method?: string },
): Promise<void> {
  const page = button.page()
  const held = Promise.withResolvers<void>()
  let requests = 0
  await page.route(path, async (route) => {
    if (route.request().method() !== method) return route.continue()
    requests++
    await held.promise
    await route.abort()
  })
  const isOurs = (request: Request) => path.test(request.url()) && request.method() === method
  const requested = page.waitForRequest(isOurs)
  await button.press('Enter')
  await requested
  await button.and(page.locator('[aria-disabled="true"]')).waitFor()
  const name = String(button)
  const hasFocus = () => button.evaluate((element) => element.matches(':focus'))
  assert.ok(await hasFocus(), `${name} while busy`)
  await page.keyboard.press('Enter')
  const failed = page.waitForEvent('requestfailed')
  held.resolve()
  await failed
  await button.and(page.locator('[aria-disabled="false"]')).waitFor()
  assert.ok(await hasFocus(), `${name} afterwards`)
  assert.equal(requests, 1, name)
  await page.unroute(path)
}

/** Stores a recording that failed and can be requested again. */
async function addFailedJob(server: TestServer): Promise<string> {
  const id = await addDoneJob(server, [utteranceOf('hello')])
  const request_params = JSON.stringify({ audio_url: 'http://a.example/a.wav' })
  await server.app.storage.db.sql
    .updateTable('jobs')
    .set({ status: 'error', error_code: 504, result: null, request_params })
    .where('id', '=', id)
    .execute()
  return id
}

/** Stores an event that was delivered. */
async function addDeliveredEvent({ app }: TestServer): Promise<void> {
  const { sql } = app.storage.db
  const endpoint = await sql.selectFrom('endpoints').select('id').executeTakeFirstOrThrow()
  await addDue({ sql }, { account: 'test', endpoint: endpoint.id, nextAt: Number.MAX_SAFE_INTEGER })
  await sql.updateTable('deliveries').set({ state: 'delivered', next_at: null }).execute()
}

test('buttons keep the focus of the keyboard while they work', { skip }, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const scopes = ['read', 'write', 'live', 'keys'] as const
  const { key } = await generateKey(server.app.storage.db, { account: 'test', name: 'Ann', scopes })
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  const button = (name: string | RegExp) => page.getByRole('button', { name, exact: true })
  await page.getByLabel('API key').fill(key)
  await pressWhileBusy(button('Sign in'), { path: /v2\/sign-in$/ })
  await signIn(page, key)

  await page.goto(`${server.url}/#/keys`)
  await pressWhileBusy(button('Create a key'), { path: /v2\/keys$/ })

  await call(server, '/v2/endpoints', { json: { url: 'http://a.example/' } })
  await page.goto(`${server.url}/#/deliveries`)
  await page.getByLabel('Address').fill('http://b.example/')
  await pressWhileBusy(button('Create'), { path: /v2\/endpoints$/ })
  await pressWhileBusy(button(/^Send a test event/), { path: /\/test$/ })
  await pressWhileBusy(button(/^Switch off/), { path: /\/disable$/ })
  await addDeliveredEvent(server)
  await page.reload()
  await pressWhileBusy(button(/^Send again/), { path: /\/resend$/ })

  const failed = await addFailedJob(server)
  await page.goto(`${server.url}/#/pre-recorded/${failed}`)
  await pressWhileBusy(button('Try again'), { path: /v2\/pre-recorded$/ })

  const id = await addDoneJob(server, [utteranceOf('We sale bread')])
  await page.goto(`${server.url}/#/pre-recorded/${id}`)
  await pressWhileBusy(button('Create a link'), { path: /\/share$/ })
  await page.getByLabel('Correct', { exact: true }).check()
  await page.locator('[data-start]', { hasText: 'sale' }).click()
  const edits = { path: /\/edits$/, method: 'PATCH' }
  await pressWhileBusy(button('Delete the words'), edits)
  await page.getByRole('textbox', { name: 'Words at 0:00' }).fill('We sell bread')
  await pressWhileBusy(button('Save'), edits)
  await button('Save').click()
  await page.getByText('Version 1 (now)').waitFor()
  await pressWhileBusy(button('Restore: Original transcript'), edits)
  assert.deepEqual(problems, [])
})
