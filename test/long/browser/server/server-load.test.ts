import assert from 'node:assert/strict'
import test from 'node:test'
import { generateKey } from '../../../../src/api/auth/generate-key.ts'
import type { ApiLoadReport } from '../../../../src/cli/client/api-types.ts'
import { checkPage, openBrowser, openPage, signIn, whyNoBrowser } from '../../../support/browser.ts'
import { call } from '../../../support/net/http-client.ts'
import { startServer } from '../../../support/server/start-server.ts'

const skip = whyNoBrowser() ?? false

test('an admin sees charts of the recent load, others do not', {
  skip,
}, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const options = { account: 'ann', name: 'Ann', scopes: ['read', 'admin'] as const }
  const { key } = await generateKey(server.app.storage.db, options)
  let load: ApiLoadReport
  do load = (await call<ApiLoadReport>({ url: server.url, key }, '/v2/load')).body
  while (load.items.length === 0)
  assert.equal(load.items[0]!.failed_jobs, 0)

  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, key)
  await page.getByRole('link', { name: 'Server' }).click()
  await page.getByRole('img', { name: 'Waiting recordings: 0 now, at most 0' }).waitFor()
  await page.getByRole('img', { name: 'Live sessions: 0 now, at most 0' }).waitFor()
  await page.getByRole('img', { name: /^Response times \(95 %\)/ }).waitFor()
  await page.getByRole('img', { name: 'Errors: None' }).waitFor()
  await checkPage(page, 'load')
  assert.deepEqual(problems, [])

  const other = await openPage(browser, server.url)
  await signIn(other.page, server.key)
  await other.page.getByRole('link', { name: 'Server' }).click()
  await other.page.getByText('Ready for work').waitFor()
  assert.equal(await other.page.getByRole('img').count(), 0)
})
