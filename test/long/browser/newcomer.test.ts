import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { unzipSync } from 'fflate'
import type { Page } from 'playwright-core'
import { checkPage, openBrowser, openPage, whyNoBrowser } from '../../support/browser.ts'
import { startEmptyServer } from '../../support/server/empty-server.ts'

const skip = whyNoBrowser() ?? false
const CONVERSATION = join(import.meta.dirname, '../../fixtures/two-voices.wav')

async function download(page: Page, name: string): Promise<Buffer> {
  const file = page.waitForEvent('download')
  await page.getByRole('link', { name }).click()
  return readFileSync(await (await file).path())
}

test('a new user gets from an empty server to an exported, corrected transcript', {
  skip,
}, async (t) => {
  const { link } = await startEmptyServer(t)
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, link)
  await page.getByText('No recordings yet.').waitFor()
  await page.getByText('Interview').click()
  const chosen = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose files' }).click()
  await (await chosen).setFiles(CONVERSATION)
  const row = page.getByRole('row', { name: /two-voices\.wav/ })
  await row.getByText('Done').waitFor({ timeout: 120_000 })
  await row.getByRole('link').click()

  await page.getByLabel('Name of Speaker 2').waitFor()
  assert.equal(await page.getByLabel(/^Name of/).count(), 2)
  const voices = await page.locator('.utterance .speaker').allInnerTexts()
  assert.deepEqual(voices, ['Speaker 1', 'Speaker 2', 'Speaker 1', 'Speaker 2'])
  await page.getByLabel('Name of Speaker 1').fill('Ann')
  await page.keyboard.press('Enter')
  await page.getByLabel('Name of Speaker 2').fill('Bo')
  await page.keyboard.press('Enter')
  await page.locator('.speaker', { hasText: 'Bo' }).first().waitFor()

  await page.getByLabel('Correct', { exact: true }).check()
  await page.locator('.utterance').nth(1).locator('[data-start]').first().click()
  const words = page.getByRole('textbox', { name: /^Words at/ })
  await words.fill('Tell me what happened, Quasimodo.')
  await page.keyboard.press('Enter')
  await page.locator('.edited', { hasText: 'Quasimodo' }).waitFor()
  await page.getByLabel('Correct', { exact: true }).uncheck()
  await checkPage(page, 'newcomer')

  const text = (await download(page, 'Text')).toString()
  assert.match(text, /^Ann: .+\nBo: Tell me what happened, Quasimodo\.\n(?:(?:Ann|Bo): .+\n)+$/)
  const srt = (await download(page, 'Subtitles (SRT)')).toString()
  assert.match(srt, /00:00:0\d,\d{3} --> .*\n.*Quasimodo/)
  const { 'word/document.xml': document } = unzipSync(await download(page, 'Word document'))
  assert.match(Buffer.from(document!).toString(), /Bo.*Quasimodo/s)
  assert.deepEqual(problems, [])
})
