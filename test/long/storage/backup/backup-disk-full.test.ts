// A disk that is full at any place of a backup or a restoration: a clear sentence, and nothing
// lost.
import assert from 'node:assert/strict'
import { stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createLog } from '../../../../src/observability/log.ts'
import { checkBackup } from '../../../../src/storage/backup/check-backup.ts'
import { listSnapshots } from '../../../../src/storage/backup/manifest.ts'
import { restoreBackup } from '../../../../src/storage/backup/restore-backup.ts'
import { takeBackup } from '../../../../src/storage/backup/take-backup.ts'
import { openStorage } from '../../../../src/storage/storage.ts'
import { fillDisk } from '../../../support/storage/fill-disk.ts'
import { mountSmallDisk } from '../../../support/storage/small-disk.ts'
import { makeFolder } from '../../../support/storage/test-storage.ts'
import { fillStore } from '../../../support/storage/upgrades/filled-store.ts'

const DISK_BYTES = 8 * 1024 * 1024
/** What becomes free after each failure. */
const STEP_BYTES = 200 * 1024
const { signal } = new AbortController()

/**
 * Fills a disk, and repeats an action with ever more space until it succeeds; returns the failures.
 */
async function untilEnoughSpace(disk: string, act: () => Promise<unknown>): Promise<number> {
  await fillDisk(disk)
  const ballast = join(disk, 'ballast')
  const { size } = await stat(ballast)
  for (let failures = 0; ; failures++) {
    try {
      await act()
      return failures
    } catch (error) {
      assert.match((error as Error).message, /^Cannot write to \S+: no space is left/)
      assert.match((error as Error).message, /run the same command again/)
    }
    await truncate(ballast, size - (failures + 1) * STEP_BYTES)
  }
}

async function onDisk(t: TestContext, work: (disk: string) => Promise<void>): Promise<void> {
  const disk = mountSmallDisk(DISK_BYTES)
  if (!disk) return t.skip('needs the right to mount a small disk')
  try {
    await work(disk.folder)
  } finally {
    disk.unmount()
  }
}

test('a backup interrupted by a full disk is resumed and harms no older snapshot', async (t) => {
  await onDisk(t, async (disk) => {
    const target = join(disk, 'backup')
    const take = (folder: string) => takeBackup({ folder, target, key: undefined, keep: 7, signal })
    await take(await fillStore(t, { jobs: 2, objects: 2 }))
    const [first] = await listSnapshots(target)
    const folder = await fillStore(t, { jobs: 5, objects: 9 })
    const failures = await untilEnoughSpace(disk, async () => {
      const { problems } = await checkBackup({ target, key: undefined, signal })
      assert.deepEqual(problems, [])
      await take(folder)
    })
    assert.ok(failures > 1, `${failures} failures`)
    const snapshots = await listSnapshots(target)
    assert.deepEqual([snapshots[0], snapshots.length], [first, 2])
    const { problems } = await checkBackup({ target, key: undefined, signal })
    assert.deepEqual(problems, [])
  })
})

test('a restoration interrupted by a full disk is resumed before a server starts', async (t) => {
  await onDisk(t, async (disk) => {
    const source = join(await makeFolder(t), 'backup')
    const filled = await fillStore(t, { jobs: 5, objects: 9 })
    await takeBackup({ folder: filled, target: source, key: undefined, keep: 7, signal })
    const folder = join(disk, 'data')
    const options = { source, key: undefined, folder, snapshot: undefined, account: undefined }
    const failures = await untilEnoughSpace(disk, () => restoreBackup({ ...options, signal }))
    assert.ok(failures > 1, `${failures} failures`)
    const storage = await openStorage({ folder, log: createLog('silent') })
    await storage.close()
  })
})
