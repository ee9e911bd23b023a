import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const PAGE = join(import.meta.dirname, '../../dashboard/dist/index.html')
/** The machine may be busy. */
const TIMEOUT_MS = 30_000

const program = places.find((path) => existsSync(path))

/** Why there are no tests in a browser here; undefined when there are. */
export function whyNoBrowser(): string | undefined {
  if (!program) return 'Chromium is not installed'
  if (!existsSync(PAGE)) return 'the dashboard is not built'
  return undefined
}

/** Starts a browser that ends with the test. A sound file becomes its microphone. */
export async function openBrowser(
  t: Pick<TestContext, 'after'>,
  { microphone }: { microphone?: string } = {},
): Promise<Browser> {
  const fake = microphone
    ? [
        '--use-fake-device-for-media-stream',
        '--use-fake-ui-for-media-stream',
        `--use-file-for-fake-audio-capture=${microphone}`,
      ]
    : []
  const browser = await chromium.launch({
    executablePath: program!,
    args: ['--no-sandbox', '--autoplay-policy=no-user-gesture-required', ...fake],
  })
  t.after(() => browser.close())
  return browser
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
  const page = await context.newPage()
  page.setDefaultTimeout(TIMEOUT_MS)
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
