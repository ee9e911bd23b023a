import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createToneWav } from '../../../support/audio/recordings.ts'
import {
  checkPage,
  holdSound,
  openBrowser,
  openPage,
  signIn,
  untilTrue,
  type WatchedPage,
  whyNoBrowser,
} from '../../../support/browser.ts'
import { addDoneJob } from '../../../support/jobs/done-job.ts'
import { call, upload } from '../../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../../support/server/start-server.ts'
import { utteranceOf } from '../../../support/text/utterance-of.ts'

const skip = whyNoBrowser() ?? false

const spoken = [
  utteranceOf('We sale the grave new bread', { speaker: 0 }),
  utteranceOf('Is it fresh of course it is', { start: 4, speaker: 1 }),
  utteranceOf('Then I take two', { start: 9, speaker: 2 }),
]

let server: TestServer
before(async () => {
  if (!skip) server = await startServer()
})
after(() => server?.close())

async function openTranscript(t: TestContext): Promise<WatchedPage & { id: string }> {
  const browser = await openBrowser(t)
  const id = await addDoneJob(server, spoken)
  const opened = await openPage(browser, server.url)
  await signIn(opened.page, server.key)
  await opened.page.goto(`${server.url}/#/pre-recorded/${id}`)
  return { ...opened, id }
}

async function read(page: Page): Promise<string[]> {
  return page.locator('.utterance p').allInnerTexts()
}

async function download(page: Page): Promise<string> {
  const file = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Text' }).click()
  return readFileSync(await (await file).path(), 'utf8')
}

/** Returns whether the browser would ask before it leaves the page. */
async function asks(page: Page): Promise<unknown> {
  return page.evaluate(`!dispatchEvent(new Event('beforeunload', { cancelable: true }))`)
}

test('what is typed is saved when the page is left, not when it is canceled', {
  skip,
}, async (t) => {
  const { page, problems, id } = await openTranscript(t)
  await page.getByLabel('Correct', { exact: true }).check()
  const stored = page.waitForResponse((response) => response.request().method() === 'PATCH')
  await page.locator('[data-start]', { hasText: 'grave' }).click()
  await page.getByRole('textbox', { name: 'Words at 0:00' }).fill('We sell the brave new bread')
  await page.locator('[data-start]', { hasText: 'take' }).click()
  await page.getByRole('textbox', { name: 'Words at 0:09' }).fill('Never to be stored')
  await page.keyboard.press('Escape')
  assert.equal(await asks(page), true)
  await page.getByRole('link', { name: 'Recordings', exact: true }).click()
  assert.equal((await stored).status(), 200)
  await page.goto(`${server.url}/#/pre-recorded/${id}`)
  await page.locator('.edited', { hasText: 'brave' }).waitFor()
  assert.equal(await asks(page), false)
  const [first, ...others] = await read(page)
  assert.equal(first, 'We sell the brave new bread')
  assert.deepEqual(
    others,
    spoken.slice(1).map(({ text }) => text),
  )
  assert.deepEqual(problems, [])
})

test('what is typed is still there after a new sign-in if another tab has signed out', {
  skip,
}, async (t) => {
  const { page, problems, id } = await openTranscript(t)
  await page.getByLabel('Correct', { exact: true }).check()
  const first = page.getByRole('textbox', { name: 'Words at 0:00' })
  const last = page.getByRole('textbox', { name: 'Words at 0:09' })
  await page.locator('[data-start]', { hasText: 'grave' }).click()
  await first.fill('We sell the brave new bread')
  await page.locator('[data-start]', { hasText: 'take' }).click()
  await last.fill('Then I took two')
  const other = await page.context().newPage()
  await other.goto(server.url)
  await other.getByRole('button', { name: 'Sign out' }).click()
  await other.getByLabel('API key').waitFor()

  await page.keyboard.press('Enter')
  await page.getByText('What you typed is not stored yet.').first().waitFor()
  assert.equal(await asks(page), true)
  await page.getByLabel('API key').fill(server.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await last.waitFor()
  assert.equal(await first.inputValue(), 'We sell the brave new bread')
  assert.equal(await last.inputValue(), 'Then I took two')
  await first.press('Enter')
  await first.waitFor({ state: 'detached' })
  await last.press('Escape')
  assert.equal(await asks(page), false)
  const { body } = await call(server, `/v2/pre-recorded/${id}/transcript?format=txt`)
  assert.match(String(body), /We sell the brave new bread\n.*\n.*Then I take two/)
  assert.deepEqual(problems, [])
})

test('a correction that could not be stored is there when its page is opened again', {
  skip,
}, async (t) => {
  const { page, id } = await openTranscript(t)
  await page.getByLabel('Correct', { exact: true }).check()
  await page.locator('[data-start]', { hasText: 'grave' }).click()
  const words = page.getByRole('textbox', { name: 'Words at 0:00' })
  await words.fill('We sell the brave new bread')
  await page.route('**/edits', (route) => route.abort())
  await page.getByRole('link', { name: 'Recordings', exact: true }).click()
  await page.getByText('What you typed is not stored yet.').first().waitFor()
  await page.unroute('**/edits')
  await page.goto(`${server.url}/#/pre-recorded/${id}`)
  await words.waitFor()
  assert.equal(await words.inputValue(), 'We sell the brave new bread')
  await words.press('Enter')
  await page.locator('.edited', { hasText: 'brave' }).waitFor()
  await page.getByRole('link', { name: 'Recordings', exact: true }).click()
  await page.goto(`${server.url}/#/pre-recorded/${id}`)
  await page.locator('.edited', { hasText: 'brave' }).waitFor()
  assert.equal(await words.count(), 0)
})

test('a user corrects words and speakers, and undoes it', { skip }, async (t) => {
  const { page, problems, id } = await openTranscript(t)
  await page.getByLabel('Correct', { exact: true }).check()

  // By mouse: the cursor stands at the word; Escape leaves all as it was.
  await page.locator('[data-start]', { hasText: 'grave' }).click()
  const words = page.getByRole('textbox', { name: 'Words at 0:00' })
  await words.waitFor()
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
  await untilTrue(page, `document.activeElement?.ariaLabel === 'Correct the words at 0:00'`)

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
  await page.getByText('Not stored yet. Enter stores it').waitFor()
  assert.equal(await page.getByLabel('Name of Speaker 2').inputValue(), 'Bo')

  await page.getByRole('button', { name: 'Restore: Original transcript' }).click()
  await page.getByText('Version 7 (now)').waitFor()
  assert.deepEqual(
    await read(page),
    spoken.map(({ text }) => text),
  )
  assert.deepEqual(problems, [])
})

test('what was typed into an utterance that somebody else split replaces all of its words', {
  skip,
}, async (t) => {
  const { page, id } = await openTranscript(t)
  await page.getByLabel('Correct', { exact: true }).check()
  const words = page.getByRole('textbox', { name: 'Words at 0:00' })
  await page.locator('[data-start]', { hasText: 'grave' }).click()
  await words.fill('We sell the brave new bread')
  const expected = ' grave new bread'
  const split = { op: 'set_speaker', utterance: 0, from: 3, to: 6, expected, speaker: 1 }
  const json = { base_version: 0, operations: [split] }
  const path = `/v2/pre-recorded/${id}/transcript/edits`
  assert.equal((await call(server, path, { method: 'PATCH', json })).status, 200)
  await words.press('Enter')
  await page.getByText('Somebody else corrected this transcript').waitFor()
  await page.getByText('grave new bread', { exact: true }).waitFor()
  assert.equal(await words.inputValue(), 'We sell the brave new bread')

  // The same when it is opened again because it could not be stored.
  await page.route('**/edits', (route) => route.abort())
  await page.getByRole('link', { name: 'Recordings', exact: true }).click()
  await page.getByText('What you typed is not stored yet.').first().waitFor()
  await page.unroute('**/edits')
  await page.goto(`${server.url}/#/pre-recorded/${id}`)
  await words.press('Enter')
  await words.waitFor({ state: 'detached' })
  const text = (await read(page)).join(' ')
  assert.equal(text, 'We sell the brave new bread Is it fresh of course it is Then I take two')
})

test('a share link shows one recording without a key', { skip }, async (t) => {
  const browser = await openBrowser(t)
  const fileId = (await upload(server, createToneWav(12))).split('/').at(-1)!
  const id = await addDoneJob(server, spoken, { fileId })
  const json = { base_version: 0, operations: [{ op: 'name_speaker', speaker: 0, name: 'Ann' }] }
  await call(server, `/v2/pre-recorded/${id}/transcript/edits`, { method: 'PATCH', json })
  const owner = await openPage(browser, server.url)
  await signIn(owner.page, server.key)
  await owner.page.goto(`${server.url}/#/pre-recorded/${id}`)
  await owner.page.getByLabel('The link works for').selectOption('1 day')
  await owner.page.getByRole('button', { name: 'Create a link' }).click()
  const url = await owner.page.getByLabel('The link, shown only once').inputValue()

  const { page, problems } = await openPage(browser, url)
  await page.locator('.speaker', { hasText: 'Ann' }).waitFor()
  assert.deepEqual(
    await read(page),
    spoken.map(({ text }) => text),
  )
  assert.equal(await page.getByLabel('Correct', { exact: true }).count(), 0)
  assert.equal(await page.getByRole('link', { name: 'Deliveries' }).count(), 0)
  await untilTrue(page, `document.querySelector('audio').duration > 11`)
  await holdSound(page)
  await page.locator('[data-start]', { hasText: 'fresh' }).click()
  await page.locator('[data-start].now', { hasText: 'fresh' }).waitFor()
  await page.evaluate(`document.querySelector('audio').pause()`)
  await checkPage(page, 'shared')
  await page.getByRole('link', { name: 'Steno' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()

  await owner.page.getByRole('button', { name: /^End: until/ }).click()
  await owner.page.getByRole('list', { name: 'Links' }).waitFor({ state: 'detached' })
  const late = await openPage(browser, url)
  const ended = late.page.getByText('This link has expired')
  await ended.waitFor()

  // Another link is opened in the same tab.
  await owner.page.getByRole('button', { name: 'Create a link' }).click()
  const other = await owner.page.getByLabel('The link, shown only once').inputValue()
  await late.page.goto(other)
  await late.page.locator('.speaker', { hasText: 'Ann' }).waitFor()
  assert.equal(await ended.count(), 0)
  assert.deepEqual([...problems, ...owner.problems, ...late.problems], [])
})

test('a shared link says that the server does not answer, and can be tried again', {
  skip,
}, async (t) => {
  const browser = await openBrowser(t)
  const id = await addDoneJob(server, spoken)
  const { body } = await call<{ url: string }>(server, `/v2/pre-recorded/${id}/share`, { json: {} })
  const { page, problems } = await openPage(browser, server.url)
  await page.route('**/v2/shared/**', (route) => route.abort())
  await page.goto(body.url)
  await page.getByText('The server does not answer.').waitFor()
  await page.unroute('**/v2/shared/**')
  await page.route('**/v2/shared/**', (route) => route.fulfill({ status: 503, body: 'starting' }))
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('alert').getByText('Something went wrong.').waitFor()
  assert.equal(await page.getByText('Loading…').count(), 0)
  await page.unroute('**/v2/shared/**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.locator('.utterance', { hasText: 'grave' }).waitFor()
  assert.equal(await page.getByRole('alert').count(), 0)
  assert.deepEqual(problems, [])
})

test('the name of a speaker is stored when its field or its page is left', {
  skip,
}, async (t) => {
  const { page, problems } = await openTranscript(t)
  await page.getByLabel('Name of Speaker 1').waitFor()
  const stored = page.waitForResponse((response) => response.request().method() === 'PATCH')
  // Not focused, the field gets no event when it is removed, as none does in Firefox.
  await page.evaluate(`{
    const field = document.querySelector('[aria-label="Name of Speaker 1"]')
    field.value = 'Ann'
    field.dispatchEvent(new Event('input'))
  }`)
  await page.goBack()
  await page.getByRole('heading', { name: 'Recordings' }).waitFor()
  await stored
  await page.goForward()
  await page.locator('.speaker', { hasText: 'Ann' }).waitFor()
  await page.getByLabel('Name of Speaker 2').fill('Bo')
  await page.keyboard.press('Tab')
  await page.locator('.speaker', { hasText: 'Bo' }).waitFor()
  assert.deepEqual(problems, [])
})

test('the name of a speaker that was typed is still there after a new sign-in', {
  skip,
}, async (t) => {
  const { page, problems, id } = await openTranscript(t)
  const name = page.getByLabel('Name of Speaker 1')
  await name.fill('Ann')
  const other = await page.context().newPage()
  await other.goto(server.url)
  await other.getByRole('button', { name: 'Sign out' }).click()
  await other.getByLabel('API key').waitFor()

  await name.press('Enter')
  await page.getByText('What you typed is not stored yet.').first().waitFor()
  assert.equal(await asks(page), true)
  await page.getByLabel('API key').fill(server.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('Not stored yet. Enter stores it').waitFor()
  assert.equal(await name.inputValue(), 'Ann')
  await name.press('Enter')
  await page.locator('.speaker', { hasText: 'Ann' }).waitFor()
  await page.getByText('Not stored yet. Enter stores it').waitFor({ state: 'detached' })
  assert.equal(await asks(page), false)
  const { body } = await call(server, `/v2/pre-recorded/${id}/transcript?format=txt`)
  assert.match(String(body), /^Ann: /m)
  assert.deepEqual(problems, [])
})

test('the name of a speaker that could not be stored stays in its field', { skip }, async (t) => {
  const { page, problems } = await openTranscript(t)
  const name = page.getByLabel('Name of Speaker 1')
  const hint = page.getByText('Not stored yet. Enter stores it')
  await name.fill('Ann')
  await page.route('**/edits', (route) => route.abort())
  await name.press('Tab')
  await hint.waitFor()
  assert.equal(await name.inputValue(), 'Ann')
  await name.press('Escape')
  await hint.waitFor({ state: 'detached' })
  assert.equal(await name.inputValue(), '')
  assert.equal(await asks(page), false)

  await name.fill('Bob')
  await name.press('Enter')
  await hint.waitFor()
  await page.unroute('**/edits')
  await name.press('Enter')
  await page.locator('.speaker', { hasText: 'Bob' }).waitFor()
  await hint.waitFor({ state: 'detached' })
  assert.deepEqual(problems, [])
})
