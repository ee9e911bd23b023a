import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test, { type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { createToneWav } from '../../../support/audio/recordings.ts'
import {
  checkPage,
  holdSound,
  openBrowser,
  openPage,
  signIn,
  untilTrue,
  whyNoBrowser,
} from '../../../support/browser.ts'
import { addDoneJob } from '../../../support/jobs/done-job.ts'
import { call, upload } from '../../../support/net/http-client.ts'
import { startServer, type TestServer } from '../../../support/server/start-server.ts'
import { utteranceOf } from '../../../support/text/utterance-of.ts'

const skip = whyNoBrowser() ?? false
const ended = { success: true, is_empty: false, exec_time: 0, error: null }

async function openServer(t: TestContext, path: (server: TestServer) => Promise<string>) {
  const server = await startServer()
  t.after(() => server.close())
  const browser = await openBrowser(t)
  const opened = await openPage(browser, server.url)
  await signIn(opened.page, server.key)
  await opened.page.goto(server.url + (await path(server)))
  return { server, ...opened }
}

/** Adds to the result of a stored job, and to its request. */
async function change({ app }: TestServer, id: string, add: object, params: object = {}) {
  const { sql } = app.storage.db
  const { result } = await sql
    .selectFrom('jobs')
    .select('result')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  await sql
    .updateTable('jobs')
    .set({
      result: JSON.stringify({ ...JSON.parse(result!), ...add }),
      request_params: JSON.stringify(params),
    })
    .where('id', '=', id)
    .execute()
}

async function texts(page: Page, selector: string): Promise<string[]> {
  return (await page.locator(selector).allInnerTexts()).map((text) => text.trim())
}

test('the reader shows translations, a sentiment chart and redaction marks', {
  skip,
}, async (t) => {
  const utterances = [
    utteranceOf('I love this [NAME_1] so much', { speaker: 0 }),
    utteranceOf('I hate waiting', { start: 6, speaker: 1 }),
  ]
  const { page, problems } = await openServer(t, async (server) => {
    const id = await addDoneJob(server, utterances)
    const french = ['J’adore [NAME_1].', 'Je déteste attendre.'].map((text, i) => {
      return { ...utterances[i]!, language: 'fr', text, words: [] }
    })
    const moods = [
      { text: 'I love this', sentiment: 'positive', emotion: 'joy', start: 0, end: 2, channel: 0 },
      { text: 'I hate it', sentiment: 'negative', emotion: 'anger', start: 6, end: 7, channel: 0 },
    ]
    const one = { error: null, full_transcript: '…', languages: ['fr'], utterances: french }
    const translation = { ...ended, results: [one] }
    const sentiment_analysis = { ...ended, results: JSON.stringify(moods) }
    const chapter = { headline: 'Waiting', gist: 'Waiting.', summary: 'Nobody likes to wait.' }
    const chapters = { ...ended, results: [{ ...chapter, keywords: [], start: 6, end: 8 }] }
    const added = { translation, sentiment_analysis, chapters }
    await change(server, id, added, { pii_redaction: true })
    return `/#/pre-recorded/${id}`
  })
  await page.getByText('Personal data is redacted').waitFor()
  await page.getByText('The audio of this recording was not kept').waitFor()
  // Words are elements as soon as they are near the view.
  await page.locator('.redacted').first().waitFor()
  assert.deepEqual(await texts(page, '.redacted'), ['[NAME_1]'])
  await page.getByRole('img', { name: /: 1 positive and 1 negative of 2/ }).waitFor()
  await page.getByText('Waiting', { exact: true }).click()
  await page.getByText('Nobody likes to wait.').waitFor()
  await page.getByLabel('Beside the words').selectOption('French')
  await page.locator('.translation').first().waitFor()
  assert.deepEqual(await texts(page, '.translation'), ['J’adore [NAME_1].', 'Je déteste attendre.'])
  await checkPage(page, 'translation')
  await page.setViewportSize({ width: 390, height: 844 })
  await page.getByRole('button', { name: 'Export, speakers, summary' }).click()
  const table = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Table (CSV)' }).click()
  const csv = readFileSync(await (await table).path(), 'utf8')
  assert.match(csv, /^\uFEFFstart,end,speaker,language,text\r\n0,\S+,Speaker 1,en,I love/)
  assert.deepEqual(problems, [])
})

test('audio that could not be loaded can be tried again', { skip }, async (t) => {
  const { page, problems, server } = await openServer(t, async () => '/#/')
  const fileId = (await upload(server, createToneWav(12))).split('/').at(-1)!
  const id = await addDoneJob(server, [utteranceOf('hello')], { fileId })
  await page.route('**/file/**', (route) => route.abort())
  await page.goto(`${server.url}/#/pre-recorded/${id}`)
  const failed = page.getByText('The audio could not be loaded')
  await failed.waitFor()
  await page.locator('[data-start]', { hasText: 'hello' }).click()
  await page.unroute('**/file/**')
  await page.getByRole('button', { name: 'Try again' }).click()
  await untilTrue(page, `document.querySelector('audio').duration > 11`)
  assert.equal(await failed.count(), 0)
  assert.equal(await page.locator('.notice').count(), 0)
  await page.locator('.waveform canvas').first().waitFor()
  await holdSound(page)
  await page.locator('[data-start]', { hasText: 'hello' }).click()
  await page.locator('[data-start].now', { hasText: 'hello' }).waitFor()

  // The connection is lost after some seconds.
  await page.evaluate(`(() => {
    const audio = document.querySelector('audio')
    audio.pause()
    audio.currentTime = 7
    audio.dispatchEvent(new Event('error'))
  })()`)
  await failed.waitFor()
  await page.getByRole('button', { name: 'Try again' }).click()
  await untilTrue(page, `document.querySelector('audio').currentTime === 7`)
  await failed.waitFor({ state: 'detached' })

  // Deleted audio does not come back.
  await page.route('**/file/**', (route) => route.fulfill({ status: 404 }))
  await page.reload()
  await page.getByText('The audio of this recording was not kept').waitFor()
  await page.locator('[data-start]', { hasText: 'hello' }).click()
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
  assert.deepEqual(problems, [])
})

test('a printed transcript is dark on white and has no controls', { skip }, async (t) => {
  const { page, problems } = await openServer(t, async (server) => {
    const fileId = (await upload(server, createToneWav(12))).split('/').at(-1)!
    const utterances = [
      utteranceOf('hello there', { speaker: 0 }),
      utteranceOf('good morning', { start: 5, speaker: 1 }),
    ]
    const id = await addDoneJob(server, utterances, { fileId })
    await change(server, id, { summarization: { ...ended, results: 'They greet each other.' } })
    return `/#/pre-recorded/${id}`
  })
  await page.locator('[data-start].now').waitFor()
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  for (const text of ['0:05', 'Speaker 2', 'hello there', 'They greet each other.']) {
    const shown = page.getByText(text, { exact: true }).filter({ visible: true })
    assert.equal(await shown.count(), 1, text)
  }
  const controls = page.locator('audio, input, select, header, a').filter({ visible: true })
  assert.equal(await controls.count(), 0)
  const colors = await page.evaluate(`['.utterance.now', 'body'].map((place) => {
    const { color, backgroundColor } = getComputedStyle(document.querySelector(place))
    return [color, backgroundColor].join()
  })`)
  assert.deepEqual(colors, [
    'rgb(28, 30, 33),rgba(0, 0, 0, 0)',
    'rgb(28, 30, 33),rgb(255, 255, 255)',
  ])
  assert.deepEqual(problems, [])
})

test('a failed recording explains its error and can be retried', {
  skip,
}, async (t) => {
  const { page, problems, server } = await openServer(t, async (server) => {
    const json = {
      audio_url: await upload(server, createToneWav(2)),
      diarization: true,
      custom_metadata: { note: 'kept' },
    }
    const { body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
    await server.app.jobs.idle()
    const failure = { message: 'Cannot finish the job in time: 60 s' }
    await server.app.storage.db.sql
      .updateTable('jobs')
      .set({
        status: 'error',
        error_code: 504,
        result: null,
        post_session_metadata: JSON.stringify({ failure }),
      })
      .where('id', '=', body.id)
      .execute()
    return `/#/pre-recorded/${body.id}`
  })
  await page.getByRole('heading', { name: 'This recording could not be transcribed' }).waitFor()
  await page.getByText('Cannot finish the job in time: 60 s').waitFor()
  await page.getByText('The transcription took longer than the server allows').waitFor()
  await checkPage(page, 'failed')
  const failed = page.url()
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.locator('.utterance', { hasText: 'hello' }).first().waitFor()
  assert.notEqual(page.url(), failed)
  const id = page.url().split('/').at(-1)!
  const { body } = await call<{
    custom_metadata: object
    request_params: { diarization: boolean }
  }>(server, `/v2/pre-recorded/${id}`)
  assert.deepEqual(body.custom_metadata, { note: 'kept' })
  assert.equal(body.request_params.diarization, true)

  await page.goto(failed)
  await page.getByRole('link', { name: 'What failed, and what to do' }).click()
  await page.getByRole('heading', { name: 'The transcription took too long' }).waitFor()
  await page.getByText('Cannot finish the job in time: 60 s').waitFor()
  await page.getByRole('button', { name: /^Try again: / }).waitFor()
  await checkPage(page, 'failures')
  assert.deepEqual(problems, [])
})
