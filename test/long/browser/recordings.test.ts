import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { createToneWav } from '../../support/audio/recordings.ts'
import { openBrowser, openPage, signIn, untilTrue, whyNoBrowser } from '../../support/browser.ts'
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

test('the keyboard goes through the pages of the list without losing its place', {
  skip,
}, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  for (let i = 0; i < 26; i++) await addDoneJob(server, [utteranceOf('hello')])
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, server.key)
  const rows = page.locator('tbody tr')
  const beyond: string[] = []
  page.on('request', (request) => {
    if (/offset=(?:50|-)/.test(request.url())) beyond.push(request.url())
  })
  for (const [name, shown, count] of [
    ['Older', 'Page 2', 1],
    ['Newer', 'Page 1', 25],
  ] as const) {
    const button = page.getByRole('button', { name, exact: true })
    await button.press('Enter')
    await page.getByText(shown).waitFor()
    await untilTrue(page, `document.querySelectorAll('tbody tr').length === ${count}`)
    assert.ok(await button.isDisabled(), name)
    // There is no page after it.
    await page.keyboard.press('Enter')
    await page.evaluate('new Promise((next) => requestAnimationFrame(() => setTimeout(next)))')
    assert.ok(await page.getByText(shown).isVisible(), name)
    assert.equal(await page.evaluate('document.activeElement.textContent'), name)
    assert.equal(await rows.count(), count)
  }
  assert.deepEqual([...beyond, ...problems], [])
})

test('uploads wait while the server is away, and one click sends them all', {
  skip,
}, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, server.key)
  const buffer = Buffer.from(createToneWav(1))
  const files = ['1.wav', '2.wav', '3.wav', '4.wav'].map((name) => {
    return { name, mimeType: 'audio/wav', buffer }
  })
  await page.context().setOffline(true)
  const chosen = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose files' }).click()
  await (await chosen).setFiles(files)
  const waiting = page.getByText('Waiting for the previous upload')
  await page.getByRole('row', { name: /^1\.wav.*does not answer/ }).waitFor()
  assert.equal(await waiting.count(), 3)
  await page.getByRole('button', { name: 'Remove 1.wav' }).click()
  await page.getByRole('row', { name: /^2\.wav.*does not answer/ }).waitFor()
  assert.equal(await waiting.count(), 2)

  // Only the upload may find that the sign-in has ended.
  const others = '**/v2/{events,transcription}**'
  await page.route(others, () => {})
  await page.context().setOffline(false)
  await page.context().clearCookies()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByLabel('API key').waitFor()
  await page.unroute(others)
  await signIn(page, server.key)
  await page.getByRole('row', { name: /^2\.wav.*You were signed out/ }).waitFor()
  assert.equal(await waiting.count(), 2)
  await page.getByRole('button', { name: 'Try again' }).click()
  for (const { name } of files.slice(1)) {
    await page.getByRole('row', { name: new RegExp(`^${name}.*Done`) }).waitFor()
  }
  assert.deepEqual(problems, [])
})

test('an upload is shown although the list of recordings has not come', { skip }, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await page.route('**/v2/{transcription,upload}**', () => {})
  await signIn(page, server.key)
  const chosen = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose files' }).click()
  const buffer = Buffer.from(createToneWav(1))
  await (await chosen).setFiles([{ name: '1.wav', mimeType: 'audio/wav', buffer }])
  await page.getByRole('row', { name: /^1\.wav.*Uploading/ }).waitFor()
  await page.getByText('Loading…').waitFor()
  assert.deepEqual(problems, [])
})

test('a file that was deleted before its upload does not hold up the next', {
  skip,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-deleted-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const paths = ['1.wav', '2.wav', '3.wav'].map((name) => join(folder, name))
  for (const path of paths) writeFileSync(path, createToneWav(1))
  const server = await startServer()
  t.after(() => server.close())
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, server.key)
  // Files are read when they are sent.
  await page.evaluate(`{
    globalThis.sent = []
    const { send } = XMLHttpRequest.prototype
    XMLHttpRequest.prototype.send = function (form) {
      sent.push(form.get('audio').name)
      if (sent.length > 1) return send.call(this, form)
      globalThis.sendNow = () => send.call(this, form)
    }
  }`)
  const chosen = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose files' }).click()
  await (await chosen).setFiles(paths)
  await page.getByText('Uploading').waitFor()
  await untilTrue(page, 'sent.length === 1')
  for (const path of paths.slice(0, 2)) rmSync(path)
  await page.evaluate('sendNow()')
  await page.getByRole('row', { name: /^1\.wav.*could not be sent/ }).waitFor()
  await page.getByRole('row', { name: /^2\.wav.*could not be sent/ }).waitFor()
  await page.getByRole('row', { name: /^3\.wav.*Done/ }).waitFor()
  // Firefox would wait after it began to send a deleted file.
  assert.deepEqual(await page.evaluate('sent'), ['1.wav', '3.wav'])
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
