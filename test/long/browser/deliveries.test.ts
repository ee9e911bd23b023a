import assert from 'node:assert/strict'
import test from 'node:test'
import { checkPage, openBrowser, openPage, whyNoBrowser } from '../../support/browser.ts'
import { call, upload } from '../../support/http-client.ts'
import { hum } from '../../support/recordings.ts'
import { startReportingServer } from '../../support/reporting-server.ts'

const skip = whyNoBrowser() ?? false

test('deliveries appear as they happen, and are sent again on request', { skip }, async (t) => {
  const server = await startReportingServer((url) => ({ STENO_WEBHOOKS: `test=${url}/account` }))
  t.after(() => server.close())
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await page.getByLabel('API key').fill(server.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Deliveries' }).click()
  await page.getByText('Nothing was delivered yet.').waitFor()

  const audio_url = await upload(server, hum(1))
  await call(server, '/v2/pre-recorded', { json: { audio_url } })
  const row = page.getByRole('row', { name: /transcription\.success/ })
  await row.getByText('Delivered').waitFor()
  await checkPage(page, 'deliveries')
  await row.getByRole('button', { name: /Send again/ }).click()
  await row.getByText('2 attempts').waitFor()

  await page.getByRole('button', { name: /Switch off/ }).click()
  await page.getByRole('button', { name: /Switch on/ }).waitFor()
  assert.deepEqual(problems, [])
})
