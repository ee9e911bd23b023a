import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { checkPage, openBrowser, openPage, whyNoBrowser } from '../../support/browser.ts'
import { hum } from '../../support/recordings.ts'
import { startServer } from '../../support/start-server.ts'

const skip = whyNoBrowser() ?? false

test('captions of a microphone appear, and the end of the session is a recording', {
  skip,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-microphone-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const microphone = join(folder, 'microphone.wav')
  writeFileSync(microphone, hum(20))
  const server = await startServer()
  t.after(() => server.close())
  const browser = await openBrowser(t, { microphone })
  const { page, problems } = await openPage(browser, server.url, { permissions: ['microphone'] })
  await page.getByLabel('API key').fill(server.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  await page.getByRole('button', { name: 'Start' }).click()
  const captions = page.getByRole('log', { name: 'Captions' })
  await captions.getByText(/hello/).first().waitFor()
  await checkPage(page, 'live')

  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('link', { name: 'Open the transcript' }).click()
  await page.locator('.utterance', { hasText: /hello/ }).first().waitFor()
  await page.getByRole('link', { name: 'All recordings' }).click()
  await page
    .getByRole('row', { name: /Live session/ })
    .getByText('Done')
    .waitFor()
  assert.deepEqual(problems, [])
})
