import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { addFile } from '../../../../test/support/jobs/test-jobs.ts'
import { connectInProcess } from '../../../../test/support/storage/databases/in-process-sqlite.ts'
import { bytesOf } from '../../../../test/support/storage/objects/objects-conformance.ts'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import { createLog } from '../../../observability/log.ts'
import { openStorage } from '../../storage.ts'
import { openDiskObjects } from '../disk/disk-objects.ts'
import { keyIdOf } from './decrypt-object.ts'
import { encryptStore } from './encrypt-store.ts'
import { loadObjectKeys } from './object-keys.ts'

const { signal } = new AbortController()
const newKey = () => randomBytes(32).toString('base64')

async function makeStore(t: TestContext) {
  const folder = await makeFolder(t)
  const file = join(await makeFolder(t), 'keys')
  return {
    file,
    setKeys: (...lines: string[]) => writeFile(file, lines.join('\n')),
    open: (objectKeys?: { file: string }) => {
      return openStorage({
        folder,
        log: createLog('silent'),
        connect: connectInProcess,
        objectKeys,
      })
    },
    stored: await openDiskObjects(join(folder, 'objects')),
  }
}

test('encryption supports adding and rotating keys, and needs all keys in use', async (t) => {
  const { file, setKeys, open, stored } = await makeStore(t)
  const ids: string[] = []
  const [one, two] = [newKey(), newKey()]
  /** Opens the store, adds an object, and encrypts all of them. */
  async function encrypt(...lines: string[]) {
    await setKeys(...lines)
    const { db, close } = await open({ file })
    const id = await addFile(db)
    ids.push(id)
    await db.objects.write(id, bytesOf(`content ${ids.length}`), { maxBytes: 100, signal })
    const keys = (await loadObjectKeys({ file }))!
    const outcome = await encryptStore({ db, stored, keys, signal })
    for (const objectId of ids) assert.equal(await keyIdOf(stored, objectId), keys.current.id)
    await close()
    return outcome
  }

  const { db, close } = await open()
  ids.push(await addFile(db))
  await db.objects.write(ids[0]!, bytesOf('content 1'), { maxBytes: 100, signal })
  await close()
  assert.deepEqual(await encrypt(one), { encrypted: 1, total: 2 })
  await assert.rejects(open(), /^Error: Objects are encrypted with the keys [0-9a-f]{16}, which/)
  assert.deepEqual(await encrypt(two, one), { encrypted: 2, total: 3 })
  assert.deepEqual(await encrypt(two), { encrypted: 0, total: 4 })
  await setKeys(one)
  await assert.rejects(open({ file }), /Objects are encrypted with the keys/)

  await setKeys(two)
  const last = await open({ file })
  const sizes = await Promise.all(ids.map((id) => last.objects.check(id)))
  assert.deepEqual(new Set(sizes.map(({ size }) => size)), new Set([9]))
  await last.close()
})

test('unreferenced objects are not encrypted, and deleted ones stay deleted', async (t) => {
  const { file, setKeys, open, stored } = await makeStore(t)
  const { db, close } = await open()
  const [known, gone, unknown] = [await addFile(db), await addFile(db), crypto.randomUUID()]
  for (const id of [known, gone, unknown]) {
    await stored.write(id, bytesOf('content'), { maxBytes: 100, signal })
  }
  await setKeys(newKey())
  const keys = (await loadObjectKeys({ file }))!
  const replace = async (...given: Parameters<typeof stored.replace>) => {
    if (given[0] === gone) await db.sql.deleteFrom('files').where('id', '=', gone).execute()
    await stored.replace(...given)
  }
  const racing = { ...stored, replace }
  const outcome = await encryptStore({ db, stored: racing, keys, signal })
  assert.deepEqual(outcome, { encrypted: 2, total: 3 })
  await assert.rejects(stored.check(gone), { code: 'file_not_found' })
  assert.equal(await keyIdOf(stored, unknown), undefined)
  await close()
})
