import assert from 'node:assert/strict'
import test from 'node:test'
import { checkPage, openBrowser, openPage, whyNoBrowser } from '../../support/browser.ts'
import { startServer } from '../../support/server/start-server.ts'

const skip = whyNoBrowser() ?? false

test('a reader finds a page of the guide by search, without a key', { skip }, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, `${server.url}/guide`)
  assert.equal(new URL(page.url()).pathname, '/guide/index.html')
  await page.getByRole('searchbox').fill('retention')
  const result = page.locator('#found a', { hasText: 'Zero retention' }).first()
  await result.waitFor()
  await checkPage(page, 'guide-search')
  await page.keyboard.press('Enter')
  await page.waitForURL(/data-protection\.html#|configuration\.html/)
  await page.goto(`${server.url}/guide/guides/meetings.html`)
  assert.equal(await page.locator('a[aria-current=page]').textContent(), 'Meetings')
  await checkPage(page, 'guide-page')
  await page.locator('main').getByRole('link', { name: 'Add-ons' }).first().click()
  await page.waitForURL(/\/guide\/add-ons\.html/)
  assert.deepEqual(problems, [])
})

test('guide pages and navigation work without scripts', { skip }, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const browser = await openBrowser(t)
  const options = { javaScriptEnabled: false, viewport: { width: 390, height: 800 } }
  const { page } = await openPage(browser, `${server.url}/guide/`, options)
  await page.getByText('Pages', { exact: true }).click()
  await page.getByRole('link', { name: 'Settings', exact: true }).first().click()
  await page.waitForURL(/configuration\.html/)
})
