import assert from 'node:assert/strict'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { createDiskMeter } from './disk.ts'

/** A disk whose measurements are counted, and its clock. */
function openDisk(reported = { blocks: 100, bavail: 40, bsize: 1024 }) {
  const counted = { ms: 0, measurements: 0 }
  const stat = async () => {
    counted.measurements++
    return reported
  }
  const disk = createDiskMeter('/', {
    now: () => counted.ms,
    stat: stat as unknown as typeof statfs,
  })
  return { counted, disk }
}

test('the disk is measured by statfs', async () => {
  const { size } = await createDiskMeter(tmpdir())()
  const { blocks, bsize } = await statfs(tmpdir())
  assert.equal(size, blocks * bsize)
  assert.deepEqual(await openDisk().disk(), { free: 40 * 1024, size: 100 * 1024 })
})

test('concurrent queries share a measurement, later ones do not', async () => {
  const { counted, disk } = openDisk()
  await Promise.all([disk(), disk()])
  counted.ms += 9
  await disk()
  assert.equal(counted.measurements, 1)
  counted.ms += 1
  await disk()
  assert.equal(counted.measurements, 2)
})

test('an unknown disk counts as unlimited', async () => {
  const unknown = { free: Number.POSITIVE_INFINITY, size: Number.POSITIVE_INFINITY }
  assert.deepEqual(await openDisk({ blocks: 0, bavail: 0, bsize: 0 }).disk(), unknown)
  assert.deepEqual(await createDiskMeter('/nowhere/at all')(), unknown)
})
