import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import type { Page } from 'playwright-core'
import { utteranceOf } from '../../src/text/edits/utterances.fixture.ts'
import { checkPage, openBrowser, openPage, whyNoBrowser } from '../support/browser.ts'
import { addDoneJob } from '../support/done-job.ts'
import { call } from '../support/http-client.ts'
import { startServer } from '../support/start-server.ts'

const skip = whyNoBrowser() ?? false

const spoken = [
  utteranceOf('We sale the grave new bread', { speaker: 0 }),
  utteranceOf('Is it fresh of course it is', { start: 4, speaker: 1 }),
  utteranceOf('Then I take two', { start: 9, speaker: 2 }),
]

async function read(page: Page): Promise<string[]> {
  return page.locator('.utterance p').allInnerTexts()
}

async function download(page: Page): Promise<string> {
  const file = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Text' }).click()
  return readFileSync(await (await file).path(), 'utf8')
}

test('a person corrects words and speakers, and takes it back', { skip }, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const id = await addDoneJob(server, spoken)
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await page.getByLabel('API key').fill(server.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Recordings' }).waitFor()
  await page.goto(`${server.url}/#/pre-recorded/${id}`)
  await page.getByLabel('Correct', { exact: true }).check()

  // By mouse: the cursor stands at the word; Escape leaves all as it was.
  await page.locator('[data-start]', { hasText: 'grave' }).click()
  const words = page.getByRole('textbox', { name: 'Words at 0:00' })
  await page.keyboard.type('very ')
  assert.equal(await words.inputValue(), 'We sale the very grave new bread')
  await checkPage(page, 'correcting')
  await page.keyboard.press('Escape')
  assert.deepEqual(
    await read(page),
    spoken.map(({ text }) => text),
  )

  // By keyboard: from the button, which has the focus again afterwards.
  const opener = page.getByRole('button', { name: 'Correct the words at 0:00' })
  await opener.press('Enter')
  await words.fill('We sell the brave new bread')
  await page.keyboard.press('Enter')
  await page.locator('.edited', { hasText: 'brave' }).waitFor()
  assert.deepEqual(await page.locator('.edited').allInnerTexts(), ['sell', 'brave'])
  await page.waitForFunction(`document.activeElement?.ariaLabel === 'Correct the words at 0:00'`)

  // An utterance of two speakers becomes two, and one is given away.
  await page.locator('[data-start]', { hasText: 'of' }).first().click()
  await page.getByLabel('From the cursor on…').selectOption('Speaker 1')
  await page.getByText('Is it fresh', { exact: true }).waitFor()
  await page.getByLabel('Speaker at 0:09').selectOption('New speaker')
  await page.getByLabel('Name of Speaker 4').waitFor()

  await page.getByLabel('Name of Speaker 1').fill('Ann')
  await page.keyboard.press('Enter')
  await page.getByLabel('Same person as Speaker 4').selectOption('Speaker 2')
  await page.getByLabel('Name of Speaker 4').waitFor({ state: 'detached' })
  assert.equal(
    await download(page),
    'Ann: We sell the brave new bread\nSpeaker 2: Is it fresh\nAnn: of course it is\nSpeaker 2: Then I take two\n',
  )
  await checkPage(page, 'corrected')
  await page.getByLabel('With corrections').uncheck()
  assert.match(await download(page), /^Speaker 1: We sale the grave/)

  // Somebody else is faster.
  const json = { base_version: 5, operations: [{ op: 'restore', version: 1 }] }
  const path = `/v2/pre-recorded/${id}/transcript/edits`
  assert.equal((await call(server, path, { method: 'PATCH', json })).status, 200)
  await page.getByLabel('Name of Speaker 2').fill('Bo')
  await page.keyboard.press('Enter')
  await page.getByText('Somebody else corrected this transcript').waitFor()
  await page.getByText('Version 6 (now)').waitFor()
  assert.equal(await page.getByLabel('Name of Speaker 2').inputValue(), '')

  await page.getByRole('button', { name: 'Restore: As it was recognized' }).click()
  await page.getByText('Version 7 (now)').waitFor()
  assert.deepEqual(
    await read(page),
    spoken.map(({ text }) => text),
  )
  assert.deepEqual(problems, [])
})
