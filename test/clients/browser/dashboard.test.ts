import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { checkPage, holdSound, openBrowser, openPage, whyNoBrowser } from '../../support/browser.ts'
import { SAMPLE } from '../../support/cli/run-steno.ts'
import { startEmptyServer } from '../../support/server/empty-server.ts'

// The whole way of a person, against the program as it is with the real models.

const skip = whyNoBrowser() ?? false
test('a browser goes from an empty server to an exported transcript', { skip }, async (t) => {
  const { url, link } = await startEmptyServer(t)
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, url)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await checkPage(page, 'sign-in')
  await page.goto(link)
  await page.getByText('No recordings yet.').waitFor()
  assert.ok(!page.url().includes('sign-in'), 'the address keeps no secret')
  await checkPage(page, 'empty')

  await page.getByText('Interview').click()
  const chosen = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose files' }).click()
  await (await chosen).setFiles(SAMPLE)
  const row = page.getByRole('row', { name: /jfk\.flac/ })
  await row.getByText('Done').waitFor({ timeout: 120_000 })
  await checkPage(page, 'recordings')

  await row.getByRole('link').click()
  await page
    .getByText(/ask not/i)
    .first()
    .waitFor()
  await page.locator('[data-start]').first().waitFor()
  await checkPage(page, 'reader')
  const word = page.locator('[data-start]', { hasText: /country/i }).first()
  await holdSound(page)
  await word.click()
  await word.and(page.locator('.now')).waitFor()

  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Subtitles (SRT)' }).click()
  const srt = readFileSync(await (await download).path(), 'utf8')
  assert.match(srt, /00:00:\d\d,\d{3} --> .*\n.*fellow Americans/i)

  await page.getByRole('link', { name: 'Search' }).click()
  const hit = page.locator('.hits a')
  await page.getByRole('searchbox').fill('countries')
  while ((await hit.count()) === 0) {
    // The recording is indexed some seconds after its end.
    await page.getByRole('button', { name: 'Search' }).click()
    await page.reload()
    await page
      .getByText(/Nobody said that|Add|\d:\d\d/)
      .first()
      .waitFor()
  }
  assert.match((await page.locator('mark').first().textContent())!, /country/i)
  await checkPage(page, 'search')
  await hit.first().click()
  await page.locator('.utterance.target').waitFor()

  await page.getByRole('link', { name: 'Usage' }).click()
  await page.getByText(/^Stored: .* without a limit/).waitFor()
  await page.getByRole('row', { name: /20\d\d 1 0 0:11/ }).waitFor()
  await page.getByLabel('Group by').selectOption('Account')
  await page.getByRole('row', { name: /^default 1 0 0:11/ }).waitFor()
  await page.getByRole('row', { name: /Total 1 0 0:11/ }).waitFor()
  await checkPage(page, 'usage')

  await page.getByRole('link', { name: 'Server' }).click()
  await page.getByText('Ready for work').waitFor()
  await page.getByRole('row', { name: /api, worker, live, delivery Ready/ }).waitFor()
  await checkPage(page, 'server')

  await page.getByRole('link', { name: 'Recordings' }).click()
  await row.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Undo' }).click()
  await row.waitFor()
  await row.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('No recordings yet.').waitFor()

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  assert.deepEqual(problems, [])
})
