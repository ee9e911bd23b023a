import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { createToneWav } from '../../support/audio/recordings.ts'
import { checkPage, openBrowser, openPage, whyNoBrowser } from '../../support/browser.ts'
import { startServer } from '../../support/server/start-server.ts'

const skip = whyNoBrowser() ?? false

test('captions of a microphone appear, and the session becomes a recording', {
  skip,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-microphone-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const microphone = join(folder, 'microphone.wav')
  writeFileSync(microphone, createToneWav(20))
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

  // Others watch: a guest on a second screen by a link, and somebody of the account.
  await page.getByRole('button', { name: 'Make a link' }).click()
  const link = await page.getByLabel('The link, shown only now').inputValue()
  const guest = await openPage(browser, link)
  const screen = guest.page.getByRole('log', { name: 'Captions' })
  await screen.getByText(/hello/).first().waitFor()
  await checkPage(guest.page, 'captions-screen')
  const colleague = await openPage(browser, server.url)
  await colleague.page.getByLabel('API key').fill(server.key)
  await colleague.page.getByRole('button', { name: 'Sign in' }).click()
  await colleague.page.getByRole('link', { name: 'Live', exact: true }).click()
  await checkPage(colleague.page, 'sessions')
  await colleague.page.getByRole('link', { name: /^Watch the session of/ }).click()
  await colleague.page.getByRole('log').getByText(/hello/).first().waitFor()

  await page.getByRole('button', { name: 'Stop' }).click()
  for (const { page: watching } of [guest, colleague]) {
    await watching.locator('.utterance', { hasText: /hello/ }).first().waitFor()
  }
  await page.getByRole('link', { name: 'Open the transcript' }).click()
  await page.locator('.utterance', { hasText: /hello/ }).first().waitFor()
  await page.getByRole('link', { name: 'All recordings' }).click()
  await page
    .getByRole('row', { name: /Live session/ })
    .getByText('Done')
    .waitFor()
  assert.deepEqual([...problems, ...guest.problems, ...colleague.problems], [])
})
