import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { openBrowser, openPage, whyNoBrowser } from '../support/browser.ts'
import { SAMPLE, startSteno } from '../support/run-steno.ts'

// The whole way of a person, against the program as it is with the real models.

const skip = whyNoBrowser() ?? false
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8')
/** Where pictures of the pages go, to be looked at; none without it. */
const pictures = process.env.PICTURES
const sizes = [
  ['phone', 390, 844],
  ['tablet', 820, 1180],
  ['desktop', 1440, 900],
] as const

/** Starts a server on an empty folder; resolves to its link that signs in. */
async function startEmptyServer(t: TestContext): Promise<{ url: string; link: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'steno-browser-'))
  const env = { STENO_PORT: '0', STENO_WORKERS: '1', STENO_DATA_DIR: folder }
  const child = startSteno(['serve'], { env })
  t.after(async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'close')
    rmSync(folder, { recursive: true, force: true })
  })
  child.stderr.resume()
  for await (const line of createInterface(child.stdout)) {
    const [link, url] = /(http:\S+)\/#\/sign-in\/\S+/.exec(line) ?? []
    if (link && url) return { url, link }
  }
  throw new Error('The server showed no link')
}

/** Fails if axe finds anything on the page as it is, in either theme. */
async function checkPage(page: Page, name: string): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    await page.evaluate(axe)
    const found = await page.evaluate(async () => {
      const { violations } = await (
        globalThis as unknown as { axe: { run(): Promise<Found> } }
      ).axe.run()
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
    })
    assert.deepEqual(found, [], `${name}, ${colorScheme}`)
    if (!pictures) continue
    for (const [size, width, height] of sizes) {
      await page.setViewportSize({ width, height })
      await page.screenshot({ path: join(pictures, `${name}-${size}-${colorScheme}.png`) })
    }
    await page.setViewportSize({ width: 1280, height: 720 })
  }
}

type Found = { violations: { id: string; nodes: { html: string }[] }[] }

test('from an empty server to an exported transcript', { skip }, async (t) => {
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
  await word.click()
  await page
    .locator('[data-start].now', { hasText: /country/i })
    .first()
    .waitFor()

  const download = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Subtitles (SRT)' }).click()
  const srt = readFileSync(await (await download).path(), 'utf8')
  assert.match(srt, /00:00:\d\d,\d{3} --> .*\n.*fellow Americans/i)

  await page.getByRole('link', { name: 'Server' }).click()
  await page.getByText('Ready for work').waitFor()
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
