import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { createToneWav } from '../../support/audio/recordings.ts'
import { openBrowser, openPage, signIn, whyNoBrowser } from '../../support/browser.ts'
import { addDoneJob } from '../../support/jobs/done-job.ts'
import { startServer } from '../../support/server/start-server.ts'
import { utteranceOf } from '../../support/text/utterance-of.ts'

const skip = whyNoBrowser() ?? false

test('the last recording of a page, once deleted, leaves the page before it', {
  skip,
}, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  for (let i = 0; i < 26; i++) await addDoneJob(server, [utteranceOf('hello')])
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, server.key)
  await page.getByRole('button', { name: 'Older', exact: true }).click()
  await page.getByText('Page 2').waitFor()
  const remove = page.getByRole('button', { name: /^Delete/ })
  // The list of the page before stands there until that of this one has come.
  await remove.nth(1).waitFor({ state: 'detached' })
  await remove.click()
  await page.getByText('Page 1').waitFor()
  await remove.nth(24).waitFor()
  assert.equal(await remove.count(), 25)

  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'Older', exact: true }).click()
  await remove.nth(1).waitFor({ state: 'detached' })
  assert.equal(await remove.count(), 1)
  await page.getByText('Page 2').waitFor()
  assert.deepEqual(problems, [])
})

test('of a chosen folder only the recordings are uploaded', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-folder-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'notes'))
  mkdirSync(join(folder, 'more'))
  writeFileSync(join(folder, 'more', 'tone.WAV'), createToneWav(1))
  for (const name of ['notes/notes.txt', 'more/._tone.WAV', 'more/picture.png'])
    writeFileSync(join(folder, name), 'no recording')
  const server = await startServer()
  t.after(() => server.close())
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, server.key)
  async function choose(path: string): Promise<void> {
    const chosen = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose a folder' }).click()
    await (await chosen).setFiles(path)
  }
  await choose(join(folder, 'notes'))
  await page.getByText('There are no recordings in this folder.').waitFor()
  await choose(folder)
  await page.getByRole('row', { name: /^tone\.WAV.*Done/ }).waitFor()
  // For a moment the upload can stand above the recording that it has become.
  const rows = page.locator('tbody tr')
  await rows.nth(1).waitFor({ state: 'detached' })
  assert.equal(await rows.count(), 1)
  assert.deepEqual(problems, [])
})
