import assert from 'node:assert/strict'
import test from 'node:test'
import { sha256 } from '../../../../src/api/auth/check-key.ts'
import { readCatalog } from '../../../../src/models/catalog.ts'
import { insertKey } from '../../../../src/storage/accounts/keys.ts'
import { startModelServer } from '../../../support/asr/model-server.ts'
import { checkPage, openBrowser, openPage, signIn, whyNoBrowser } from '../../../support/browser.ts'
import { startServer } from '../../../support/server/start-server.ts'
import { makeFolder } from '../../../support/storage/test-storage.ts'

const skip = whyNoBrowser() ?? false

test('an admin installs a model and sees its progress or failure', {
  skip,
}, async (t) => {
  const mirror = await startModelServer()
  t.after(() => mirror.close())
  const { files } = readCatalog().find(({ id }) => id === 'whisper-tiny')!
  const go = Promise.withResolvers<void>()
  for (const { url } of files) mirror.files.set(new URL(url).pathname, Buffer.from('other bytes'))
  mirror.next.push((response) => void go.promise.then(() => response.writeHead(403).end()))
  const env = { STENO_MODELS_DIR: await makeFolder(t), STENO_MODELS_MIRROR: mirror.url }
  const server = await startServer({ env })
  t.after(() => server.close())
  const hash = sha256('admin').toString('hex')
  const scopes = ['admin', 'read', 'write', 'live'] as const
  const key = { account: 'operator', createdAt: 1, prefix: 'st_admin', scopes, hash }
  await insertKey(server.app.storage.db, key)

  const browser = await openBrowser(t)
  const { page, problems } = await openPage(browser, server.url)
  await signIn(page, 'admin')
  await page.getByRole('link', { name: 'Server', exact: true }).click()
  const row = page.getByRole('row', { name: /^whisper-tiny / })
  await row.getByRole('button', { name: 'Install whisper-tiny' }).click()
  await row.getByRole('progressbar', { name: 'whisper-tiny is being installed' }).waitFor()
  await checkPage(page, 'models')
  go.resolve()
  await row.getByText(/The installation failed: .*403/).waitFor()
  assert.equal(await page.getByRole('button', { name: /Remove moonshine/ }).count(), 0)

  await page.getByRole('button', { name: 'Sign out', exact: true }).click()
  await page.getByLabel('API key').fill(server.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('row', { name: /^whisper-tiny .* Recordings and live/ }).waitFor()
  assert.deepEqual(problems, [])
})
