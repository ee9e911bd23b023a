import assert from 'node:assert/strict'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import test, { type TestContext } from 'node:test'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import { LocalCopies } from './local-copies.ts'

async function openCopies(t: TestContext, keptMs?: number) {
  const folder = await makeFolder(t)
  const copies = new LocalCopies(folder, { maxBytes: 10, ...(keptMs !== undefined && { keptMs }) })
  t.after(() => copies.close())
  let made = 0
  const use = (version: string, text = 'abc') => {
    return copies.use(version, async (path) => {
      made++
      await writeFile(path, text)
      return text.length
    })
  }
  return { copies, use, files: () => readdir(folder), made: () => made }
}

test('an unused copy expires, and one in use is kept', async (t) => {
  const { use, files, made } = await openCopies(t, 20)
  const file = await use('a 1')
  await (await use('b 1'))[Symbol.asyncDispose]()
  while ((await files()).length > 1) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(await readFile(file.path, 'utf8'), 'abc')
  await file[Symbol.asyncDispose]()
  while ((await files()).length > 0) await new Promise((resolve) => setTimeout(resolve, 5))
  await (await use('a 1'))[Symbol.asyncDispose]()
  assert.equal(made(), 3)
})

test('copies of a deleted object are removed, those in use after their last use', async (t) => {
  const { copies, use, files } = await openCopies(t)
  await (await use('a 1'))[Symbol.asyncDispose]()
  const [first, second] = [await use('a 2'), await use('a 2')]
  await (await use('ab 1'))[Symbol.asyncDispose]()
  await copies.remove('a ')
  assert.equal((await files()).length, 2)
  await first[Symbol.asyncDispose]()
  assert.equal(await readFile(second.path, 'utf8'), 'abc')
  await second[Symbol.asyncDispose]()
  assert.equal((await files()).length, 1)
})

test('unused copies are kept up to a total size, by last use', async (t) => {
  const { use, made } = await openCopies(t)
  for (const version of ['a', 'b', 'c', 'a', 'd']) {
    await (await use(version, 'four'))[Symbol.asyncDispose]()
  }
  assert.equal(made(), 5)
  await (await use('a'))[Symbol.asyncDispose]()
  assert.equal(made(), 5)
})
