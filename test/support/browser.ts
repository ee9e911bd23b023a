import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const PAGE = join(import.meta.dirname, '../../dashboard/dist/index.html')
/** The machine may be busy. */
const TIMEOUT_MS = 60_000

/** Where pictures of the pages go, to be looked at; none without it. */
const pictures = process.env.PICTURES
const sizes = [
  ['phone', 390, 844],
  ['tablet', 820, 1180],
  ['desktop', 1440, 900],
] as const

const program = places.find((path) => existsSync(path))

/** Why there are no tests in a browser here; undefined when there are. */
export function whyNoBrowser(): string | undefined {
  return program ? whyNotBuilt() : 'Chromium is not installed'
}

/** Why there is no dashboard; undefined when there is one. */
export function whyNotBuilt(): string | undefined {
  return existsSync(PAGE) ? undefined : 'the dashboard is not built'
}

/** How long the browser stays open for the next test of this process: its start takes seconds. */
const IDLE_MS = 5000

let shared: Promise<Browser> | undefined
let idle: NodeJS.Timeout | undefined

/**
 * Returns a browser whose pages end with the test. A sound file becomes the microphone of a browser
 * of its own; otherwise the tests of a process, which run one after the other, share one.
 */
export async function openBrowser(
  t: Pick<TestContext, 'after'>,
  { microphone }: { microphone?: string } = {},
): Promise<Browser> {
  if (microphone) {
    const launched = await launch([
      '--use-fake-device-for-media-stream',
      '--use-fake-ui-for-media-stream',
      `--use-file-for-fake-audio-capture=${microphone}`,
    ])
    t.after(() => launched.close())
    return launched
  }
  clearTimeout(idle)
  shared ??= launch()
  const browser = await shared
  t.after(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
    idle = setTimeout(closeShared, IDLE_MS).unref()
  })
  return browser
}

function launch(flags: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: program!,
    args: ['--no-sandbox', '--autoplay-policy=no-user-gesture-required', ...flags],
  })
}

function closeShared(): void {
  const closing = shared
  shared = undefined
  void closing?.then((browser) => browser.close())
}

/** A page with what went wrong in it: errors, and requests to other origins. */
export type WatchedPage = { page: Page; problems: string[] }

/** Opens a page of a browser profile of its own. */
export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  context.setDefaultTimeout(TIMEOUT_MS)
  const page = await context.newPage()
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(String(error)))
  page.on('console', (message) => {
    // Refused requests are part of the tests, and the console repeats them; what has no address is
    // of a script that the test ran in the page.
    const isOurs = message.text().startsWith('Failed to load resource') || !message.location().url
    if (message.type() === 'error' && !isOurs) problems.push(message.text())
  })
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (protocol.startsWith('http') && origin !== new URL(url).origin) problems.push(request.url())
  })
  await page.goto(url)
  return { page, problems }
}

/** Signs in on the page that the server shows first, and waits for the list of recordings. */
export async function signIn(page: Page, key: string): Promise<void> {
  await page.getByLabel('API key').fill(key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Recordings' }).waitFor()
}

/**
 * Waits until an expression is true in the page. Playwright's own `waitForFunction` evaluates the
 * expression in the page when it is not true at once, which the security policy of our pages
 * refuses.
 */
export async function untilTrue(page: Page, expression: string): Promise<void> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  while (!(await page.evaluate(expression))) {
    if (signal.aborted) throw new Error(`not true in the page: ${expression}`)
    await page.evaluate('new Promise((next) => requestAnimationFrame(next))')
  }
}

/**
 * Sets the playback rate of the page to 0. While audio plays, each word is marked only for a
 * moment, which a test on a busy machine misses.
 */
export async function holdSound(page: Page): Promise<void> {
  await page.evaluate(`document.querySelector('audio').playbackRate = 0`)
}

/** What axe checks in each theme: the dark one differs in its colors alone. */
const RULES = { light: {}, dark: { runOnly: ['color-contrast'] } }

/** Fails if axe finds anything on the page as it is, in either theme. */
export async function checkPage(page: Page, name: string): Promise<void> {
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core'), 'utf8'))
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const found = await page.evaluate(async (rules) => {
      const { axe } = globalThis as unknown as { axe: { run(rules: object): Promise<Found> } }
      const { violations } = await axe.run({ resultTypes: ['violations'], ...rules })
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
    }, RULES[colorScheme])
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
