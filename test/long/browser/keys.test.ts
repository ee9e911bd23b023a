import assert from 'node:assert/strict'
import test from 'node:test'
import { generateKey } from '../../../src/api/auth/generate-key.ts'
import { checkPage, openBrowser, openPage, signIn, whyNoBrowser } from '../../support/browser.ts'
import { addDoneJob } from '../../support/jobs/done-job.ts'
import { call } from '../../support/net/http-client.ts'
import { startServer } from '../../support/server/start-server.ts'
import { utteranceOf } from '../../support/text/utterance-of.ts'

const skip = whyNoBrowser() ?? false

test('a user creates a read-only key and revokes it', { skip }, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const options = { account: 'ann', name: 'Ann', scopes: ['read', 'write', 'keys'] as const }
  const signedIn = await generateKey(server.app.storage.db, options)
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, signedIn.key)
  await page.getByRole('link', { name: 'Keys' }).click()
  await page.getByRole('row', { name: /^Ann \(this one\)/ }).waitFor()
  assert.equal(await page.getByLabel('Account', { exact: true }).count(), 0)
  assert.equal(await page.getByLabel('Manage the whole server').count(), 0)

  await page.getByLabel('Name', { exact: true }).fill('night job')
  await page.getByLabel('Add, correct and delete recordings').uncheck()
  await page.getByLabel('Expires').selectOption('In 30 days')
  await page.getByRole('button', { name: 'Create a key' }).click()
  const key = await page.getByLabel('The key “night job”, shown only once').inputValue()
  const row = page.getByRole('row', { name: /^night job/ })
  await row.getByText('read', { exact: true }).waitFor()
  await checkPage(page, 'keys')
  const made = { url: server.url, key }
  assert.equal((await call(made, '/v2/pre-recorded')).status, 200)
  assert.equal((await call(made, '/v2/upload', { method: 'POST' })).status, 403)

  page.once('dialog', (dialog) => void dialog.accept())
  await row.getByRole('button', { name: /^Revoke the key/ }).click()
  await row.waitFor({ state: 'detached' })
  assert.equal((await call(made, '/v2/pre-recorded')).status, 401)
  assert.equal(await page.getByLabel('The key “night job”').count(), 0)
  assert.deepEqual(problems, [])
})

test('a user who signs out leaves nothing in the tab, and what was deleted stays deleted', {
  skip,
}, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const deleted = await addDoneJob(server, [utteranceOf('hello')])
  const corrected = await addDoneJob(server, [utteranceOf('hello')])
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, server.key)
  const row = page.getByRole('row').filter({ has: page.locator(`[href$="${deleted}"]`) })
  await row.getByRole('button', { name: /^Delete/ }).click()
  await page.locator(`[href$="${corrected}"]`).click()
  await page.getByLabel('Correct', { exact: true }).check()
  await page.getByRole('button', { name: /^Correct the words/ }).click()
  await page.getByRole('textbox', { name: /^Words at/ }).fill('good morning')
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key').waitFor()
  assert.equal((await call(server, `/v2/pre-recorded/${deleted}`)).status, 404)
  const { body } = await call(server, `/v2/pre-recorded/${corrected}/transcript?format=txt`)
  assert.match(String(body), /good morning/)

  await page.goto(`${server.url}/#/`)
  await page.route('**/v2/transcription**', () => {})
  await signIn(page, server.key)
  assert.equal(await page.locator('tbody tr').count(), 0)
  assert.deepEqual(problems, [])
})

test('whoever signs in after a sign-in has ended sees nothing of another account', {
  skip,
}, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  await addDoneJob(server, [utteranceOf('hello')])
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, server.key)
  await page.getByRole('row', { name: /Done/ }).waitFor()
  await page.context().clearCookies()
  // By the address, because the list may have ended the sign-in before a link is clicked.
  await page.evaluate(`location.hash = '#/usage'`)
  await page.getByText('You were signed out. Sign in again.').waitFor()
  await page.getByRole('link', { name: 'Steno' }).click()
  await page.route('**/v2/transcription**', () => {})
  await signIn(page, 'other-key')
  assert.equal(await page.locator('tbody tr').count(), 0)
  assert.deepEqual(problems, [])
})

test('a link that signs in says that the server does not answer', { skip }, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const browser = await openBrowser(t)
  const { page } = await openPage(browser, server.url)
  await page.getByLabel('API key').waitFor()
  await page.route('**/v2/sign-in', (route) => route.abort())
  await page.evaluate(`location.hash = '#/sign-in/some-link'`)
  await page.getByText('The server does not answer').waitFor()
  await page.unroute('**/v2/sign-in')
  await page.evaluate(`location.hash = '#/sign-in/some-link'`)
  await page.getByText('This link was used before or has expired').waitFor()
})

test('pages that are opened while the server cannot answer load as soon as it can', {
  skip,
}, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const browser = await openBrowser(t)
  const { page } = await openPage(browser, server.url)
  const scopes = ['read', 'keys'] as const
  const { key } = await generateKey(server.app.storage.db, { account: 'ann', name: 'Ann', scopes })
  await signIn(page, key)
  const loaded = {
    Keys: page.getByRole('row', { name: /^Ann/ }),
    Usage: page.getByRole('heading', { level: 2 }),
  }
  for (const [link, content] of Object.entries(loaded)) {
    await page.route('**/v2/**', (route) => route.fulfill({ status: 503, body: 'starting' }))
    const refused = page.waitForResponse((response) => response.status() === 503)
    await page.getByRole('link', { name: link, exact: true }).click()
    await refused
    assert.equal(await content.count(), 0)
    await page.unroute('**/v2/**')
    await content.first().waitFor()
  }
})
