import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { createFakeSpeechEngine } from '../../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../../support/audio/recordings.ts'
import {
  checkPage,
  holdSound,
  openBrowser,
  openPage,
  signIn,
  whyNoBrowser,
} from '../../../support/browser.ts'
import { addDoneJob } from '../../../support/jobs/done-job.ts'
import { indexNow } from '../../../support/jobs/index-now.ts'
import { call, upload } from '../../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../../support/server/start-server.ts'
import { utteranceOf } from '../../../support/text/utterance-of.ts'

const skip = whyNoBrowser() ?? false
const arabic = 'مرحبا بكم في اجتماع اليوم'
const hebrew = 'שלום לכולם, נתחיל עכשיו'

async function open(t: TestContext, microphone?: string) {
  const server = await startServer({ speech: createFakeSpeechEngine(arabic) })
  t.after(() => server.close())
  const browser = await openBrowser(t, microphone ? { microphone } : {})
  const options = microphone ? { permissions: ['microphone'] } : {}
  const opened = await openPage(browser, server.url, options)
  await signIn(opened.page, server.key)
  return { server, ...opened }
}

/** Stores a recording with an Arabic name and two utterances; resolves to its id. */
async function addMeeting(server: TestServer): Promise<string> {
  const fileId = (await upload(server, createToneWav(12))).split('/').at(-1)!
  const spoken = [
    utteranceOf(arabic, { speaker: 0, language: 'ar' }),
    utteranceOf(hebrew, { start: 6, speaker: 1, language: 'he' }),
  ]
  const id = await addDoneJob(server, spoken, { fileId })
  await server.app.storage.db.sql
    .updateTable('jobs')
    .set({ file_filename: 'اجتماع (نهائي).wav', custom_metadata: '{"צוות":"אדום"}' })
    .where('id', '=', id)
    .execute()
  const operations = [{ op: 'name_speaker', speaker: 0, name: 'ليلى' }]
  const json = { base_version: 0, operations }
  await call(server, `/v2/pre-recorded/${id}/transcript/edits`, { method: 'PATCH', json })
  return id
}

/** The computed direction of each element. */
function directions(page: Page, selector: string): Promise<string[]> {
  const script = `[...document.querySelectorAll(${JSON.stringify(selector)})]
    .map((one) => getComputedStyle(one).direction)`
  return page.evaluate(script)
}

/** Fails if the page is wider than any of three screens. */
async function checkWidths(page: Page, name: string): Promise<void> {
  for (const width of [390, 820, 1440]) {
    await page.setViewportSize({ width, height: 844 })
    const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    assert.ok((wide as number) <= 0, `${name} at ${width}: ${wide} wider`)
  }
  await page.setViewportSize({ width: 1280, height: 720 })
}

test('Arabic and Hebrew are shown right to left in list, reader and search', {
  skip,
}, async (t) => {
  const { server, page, problems } = await open(t)
  const id = await addMeeting(server)
  await indexNow(server)
  await page.reload()
  await page.getByRole('link', { name: 'اجتماع (نهائي).wav' }).waitFor()
  assert.equal(await page.locator('.chip').innerText(), 'צוות=אדום')
  await checkPage(page, 'rtl-list')

  await page.goto(`${server.url}/#/pre-recorded/${id}`)
  await page.locator('[data-start]').first().waitFor()
  assert.deepEqual(await directions(page, '.utterance p'), ['rtl', 'rtl'])
  const words = page.locator('.utterance p').first().locator('[data-start]')
  const boxes = (await page.evaluate(`[...document.querySelector('.utterance p').children]
    .map((word) => word.getBoundingClientRect().right)`)) as number[]
  assert.deepEqual(
    boxes,
    boxes.toSorted((a, b) => b - a),
    'the first word stands at the right',
  )
  const [text, column] = (await page.evaluate(`(() => {
    const p = document.querySelector('.utterance p')
    const range = document.createRange()
    range.selectNodeContents(p)
    return [range.getBoundingClientRect().right, p.getBoundingClientRect().right]
  })()`)) as [number, number]
  assert.ok(Math.abs(text - column) < 2, 'lines begin at the right edge')
  await page.locator('.speaker', { hasText: 'ليلى' }).waitFor()
  await holdSound(page)
  await words.nth(1).click()
  await words.nth(1).and(page.locator('.now')).waitFor()
  await page.evaluate(`document.querySelector('audio').pause()`)
  await page.getByLabel('Correct', { exact: true }).check()
  await words.first().click()
  await page.getByRole('textbox', { name: 'Words at 0:00' }).waitFor()
  assert.deepEqual(await directions(page, '.editor textarea'), ['rtl'])
  await page.keyboard.press('Escape')
  await page.getByLabel('Correct', { exact: true }).uncheck()
  await checkPage(page, 'rtl-reader')
  await checkWidths(page, 'reader')

  await page.goto(`${server.url}/#/search/${encodeURIComponent('اجتماع')}`)
  await page.locator('mark').waitFor()
  assert.equal(await page.locator('mark').innerText(), 'اجتماع')
  assert.deepEqual(await directions(page, '.hits p'), ['rtl'])
  assert.deepEqual(await directions(page, 'input[type=search]'), ['rtl'])
  await checkPage(page, 'rtl-search')
  await checkWidths(page, 'search')
  assert.deepEqual(problems, [])
})

test('the pages are laid out right to left for a right-to-left interface', {
  skip,
}, async (t) => {
  const { server, page, problems } = await open(t)
  const id = await addMeeting(server)
  // What `main.tsx` does with the direction of the texts.
  const turn = () => page.evaluate(`document.documentElement.dir = 'rtl'`)
  await page.reload()
  const heading = (name: string) => page.getByRole('heading', { name, exact: true })
  // What each page, and no page before it, shows when it is complete.
  for (const [path, shown] of [
    ['', page.getByRole('link', { name: 'اجتماع (نهائي).wav' })],
    [`pre-recorded/${id}`, page.locator('[data-start]').first()],
    ['search', heading('Search')],
    ['live', heading('Live captions')],
    ['deliveries', page.getByText('Nothing has been delivered yet.')],
    ['usage', page.getByText(/^Stored: /)],
    ['server', heading('Account')],
    ['no-such-page', heading('There is no such page')],
  ] as const) {
    await page.goto(`${server.url}/#/${path}`)
    await turn()
    await shown.waitFor()
    await checkWidths(page, path)
  }
  await page.goto(`${server.url}/#/pre-recorded/${id}`)
  await heading('اجتماع (نهائي).wav').waitFor()
  const time = page.locator('.utterance .time').first()
  await page.locator('[data-start]').first().waitFor()
  const [timeAt, textAt] = await Promise.all([
    time.boundingBox(),
    page.locator('.utterance p').first().boundingBox(),
  ])
  assert.ok(timeAt!.x > textAt!.x, 'the time stands at the beginning of the line')
  await checkPage(page, 'rtl-page')
  assert.deepEqual(problems, [])
})

test('Arabic captions start at the right', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-microphone-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const microphone = join(folder, 'microphone.wav')
  writeFileSync(microphone, createToneWav(20))
  const { page, problems } = await open(t, microphone)
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  await page.getByRole('button', { name: 'Start' }).click()
  const captions = page.getByRole('log', { name: 'Captions' })
  await captions.getByText(/مرحبا/).first().waitFor()
  assert.deepEqual([...new Set(await directions(page, '[role=log] p'))], ['rtl'])
  await checkPage(page, 'rtl-captions')
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('link', { name: 'Open the transcript' }).click()
  await page.locator('.utterance', { hasText: /مرحبا/ }).first().waitFor()
  assert.deepEqual(problems, [])
})
