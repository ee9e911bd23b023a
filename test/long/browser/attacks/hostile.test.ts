import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { openBrowser, openPage, signIn, untilTrue, whyNoBrowser } from '../../../support/browser.ts'
import { startServer, type TestServer } from '../../../support/server/start-server.ts'

const skip = whyNoBrowser() ?? false
const WORDS = 50_000
const WORDS_PER_UTTERANCE = 25

/** What recognizers never write, and attackers and other scripts do. */
const hostile = [
  ' <img src=x onerror="window.hacked=1">',
  ' <script>window.hacked=1</script>',
  ' \u202Etxt.exe\u202C',
  ' שלום',
  ' مرحبا',
  ' 👩‍👩‍👧‍👦',
  ` ${'x'.repeat(500)}`,
  ' javascript:window.hacked=1',
  ' {{constructor}}',
]

/** Stores a finished job with so many words; resolves to its id. */
async function addJob({ app }: TestServer, count: number): Promise<string> {
  const words = Array.from({ length: count }, (_, i) => {
    const word = i < hostile.length ? hostile[i]! : ` word${i}`
    return { word, start: i / 5, end: i / 5 + 0.1, confidence: (i % 10) / 10 }
  })
  const utterances = []
  for (let i = 0; i < count; i += WORDS_PER_UTTERANCE) {
    const part = words.slice(i, i + WORDS_PER_UTTERANCE)
    const text = part
      .map(({ word }) => word)
      .join('')
      .trim()
    const [start, end] = [part[0]!.start, part.at(-1)!.end]
    const speaker = (i / WORDS_PER_UTTERANCE) % 2
    utterances.push({
      start,
      end,
      confidence: 0.9,
      channel: 0,
      speaker,
      text,
      words: part,
      language: 'en',
    })
  }
  const metadata = {
    audio_duration: count / 5,
    number_of_distinct_channels: 1,
    billing_time: 1,
    transcription_time: 1,
    warnings: [hostile[0]],
  }
  const transcription = { full_transcript: 'x', languages: ['en'], utterances }
  const summarization = {
    success: true,
    is_empty: false,
    exec_time: 0,
    error: null,
    results: hostile.join(''),
  }
  const id = randomUUID()
  const row = {
    id,
    account: 'test',
    kind: 'pre-recorded',
    status: 'done',
    run_after: 0,
    created_at: Date.now(),
    completed_at: Date.now(),
    request_params: '{}',
    custom_metadata: JSON.stringify({ note: hostile[0]!.trim() }),
    post_session_metadata: '{}',
    result: JSON.stringify({ metadata, transcription, summarization }),
  }
  await app.storage.db.sql
    .insertInto('jobs')
    .values(row as never)
    .execute()
  return id
}

test('a hostile transcript of 50,000 words is shown as text and can be scrolled', {
  skip,
}, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const id = await addJob(server, WORDS)
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, server.key)
  await page.getByText('note=<img').waitFor()
  await page.goto(`${server.url}/#/pre-recorded/${id}`)
  await page.locator('[data-start]').first().waitFor()

  const utterances = page.locator('.utterance')
  assert.equal(await utterances.count(), WORDS / WORDS_PER_UTTERANCE)
  // Words are elements near the view only.
  assert.ok((await page.locator('[data-start]').count()) < 5000)
  // Rows get their real heights on the way, so that one jump may end before the last one.
  const lastWord = page.locator('[data-start]', { hasText: `word${WORDS - 1}` })
  while (!(await lastWord.isVisible())) await utterances.last().scrollIntoViewIfNeeded()
  await scrollSmoothly(t, page)
  const second = WORDS / 5 - 1000
  // A page of its own: no row has been near the view there.
  const jumped = await page.context().newPage()
  await jumped.goto(`${server.url}/#/pre-recorded/${id}/${second}`)
  await jumped.locator('.utterance.target [data-start]').first().waitFor()
  await untilTrue(
    jumped,
    `(() => {
    const { top, bottom } = document.querySelector('.utterance.target')?.getBoundingClientRect() ?? {}
    return top > 0 && bottom < innerHeight
  })()`,
  )
  await jumped.close()

  const name = page.getByLabel('Name of Speaker 1')
  await name.fill(hostile[0]!)
  await name.press('Enter')
  await page.evaluate('scrollTo(0, 0)')
  await page.locator('.speaker', { hasText: '<img' }).first().waitFor()
  const hacked = () => page.evaluate(() => (globalThis as { hacked?: number }).hacked)
  assert.equal(await hacked(), undefined)
  assert.equal(await page.locator('main img, main script').count(), 0)
  const widths = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')
  const [wide, shown] = widths as [number, number]
  assert.ok(wide <= shown, 'long words do not widen the page')
  assert.deepEqual(problems, [])
})

/**
 * Scrolls from the top by 300 pixels a frame, as a fast wheel does; reports what the frames took.
 */
async function scrollSmoothly(t: TestContext, page: Page): Promise<void> {
  const frames = (await page.evaluate(`(async () => {
    const frame = () => new Promise((done) => requestAnimationFrame(done))
    scrollTo(0, 0)
    await frame()
    const times = []
    let before = await frame()
    for (let i = 0; i < 300; i++) {
      scrollBy(0, 300)
      const now = await frame()
      times.push(now - before)
      before = now
    }
    return times
  })()`)) as number[]
  frames.sort((a, b) => a - b)
  const at = (share: number) => frames[Math.floor((frames.length - 1) * share)]!.toFixed(1)
  t.diagnostic(`frames while scrolling: median ${at(0.5)} ms, 95 % ${at(0.95)} ms, all ${at(1)} ms`)
}

test('a browser of one account does not see recordings of another', { skip }, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const id = await addJob(server, WORDS_PER_UTTERANCE)
  const browser = await openBrowser(t)
  const { page } = await openPage(browser, server.url)
  await signIn(page, 'other-key')
  await page.getByText('No recordings yet.').waitFor()
  await page.goto(`${server.url}/#/pre-recorded/${id}`)
  await page.getByText('There is no such recording.').waitFor()
})
