import assert from 'node:assert/strict'
import test from 'node:test'
import { createToneWav } from '../../support/audio/recordings.ts'
import { checkPage, openBrowser, openPage, signIn, whyNoBrowser } from '../../support/browser.ts'
import { startReportingServer } from '../../support/delivery/reporting-server.ts'
import { call, upload } from '../../support/net/http-client.ts'

const skip = whyNoBrowser() ?? false

test('the deliveries page shows new deliveries and resends one on request', { skip }, async (t) => {
  const server = await startReportingServer((url) => ({ STENO_WEBHOOKS: `test=${url}/account` }))
  t.after(() => server.close())
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, server.key)
  await page.getByRole('link', { name: 'Deliveries' }).click()
  await page.getByText('Nothing has been delivered yet.').waitFor()

  const audio_url = await upload(server, createToneWav(1))
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

test('a user creates, tests and removes a webhook', { skip }, async (t) => {
  const server = await startReportingServer()
  t.after(() => server.close())
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, server.key)
  await page.getByRole('link', { name: 'Deliveries' }).click()
  await page.getByLabel('Address').fill(`${server.receiver.url}/hook`)
  await page.getByLabel('Name (optional)').fill('<b>mail</b>')
  await page.locator('summary', { hasText: 'Events' }).click()
  await page.getByLabel('Recording added').uncheck()
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const secret = await page.getByLabel(/^The secret of <b>mail<\/b>/).inputValue()
  assert.match(secret, /^whsec_/)
  const row = page.getByRole('row', { name: /^<b>mail<\/b>/ })
  await row.getByText('Transcript done', { exact: false }).waitFor()
  await checkPage(page, 'webhook')

  await row.getByRole('button', { name: /^Send a test event/ }).click()
  await page.getByText('The test event arrived.').waitFor()
  assert.match(server.receiver.received[0]!.body, /webhook\.test/)
  server.answers.set('/hook', () => 503)
  await row.getByRole('button', { name: /^Send a test event/ }).click()
  await page.getByText(/^The test event did not arrive: .*503/).waitFor()

  page.once('dialog', (dialog) => void dialog.accept())
  await row.getByRole('button', { name: /^Remove/ }).click()
  await row.waitFor({ state: 'detached' })
  assert.deepEqual(problems, [])
})
