import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { AppError } from '../../errors.ts'
import { insertRecording } from '../recordings/recordings.ts'
import { DiskSpace, type SpaceSettings } from './disk-space.ts'

const MB = 1_000_000

/** Opens a space on a disk of 100 MB, of which `disk.free` can be set; files are only rows. */
async function openSpace(t: TestContext, settings: SpaceSettings = {}) {
  const { db } = await openTestStorage(t)
  const disk = { free: 50 * MB, size: 100 * MB }
  const space = new DiskSpace({ ...settings, db, disk: async () => disk })
  let files = 0
  async function store(account: string, size: number): Promise<void> {
    const id = `file-${files++}`
    const file = { id, account, filename: null, source: null, extension: 'wav' }
    await insertRecording(db, { ...file, size, duration: 1, channels: 1, createdAt: 0 })
  }
  return { db, disk, space, store }
}

test('below the reserve new data is rejected with a retry time', async (t) => {
  const { disk, space } = await openSpace(t)
  await space.checkAccount('a')
  await space.check()
  disk.free = 5 * MB
  await space.checkAccount('a')
  disk.free = 5 * MB - 1
  const message = /4999999 bytes are free, 5000000 stay reserved \(STENO_MIN_FREE_BYTES\)$/
  await assert.rejects(space.checkAccount('a'), { code: 'storage_low', message, retryAfter: 60 })
  await assert.rejects(space.check(), { code: 'storage_low' })
  assert.equal((await space.state()).isLow, true)
})

test('the reserve is configurable, and one gigabyte at most by default', async (t) => {
  const set = await openSpace(t, { minFreeBytes: 60 * MB })
  await assert.rejects(set.space.checkAccount('a'), { code: 'storage_low' })
  const none = await openSpace(t, { minFreeBytes: 0 })
  none.disk.free = 0
  await none.space.checkAccount('a')
  const usual = await openSpace(t)
  usual.disk.size = 1e15
  assert.equal((await usual.space.state()).reserve, 1e9)
})

test('a disk of unknown size has no reserve', async (t) => {
  const { disk, space } = await openSpace(t, { accounts: ['a', 'b'] })
  Object.assign(disk, { free: Number.POSITIVE_INFINITY, size: Number.POSITIVE_INFINITY })
  await space.checkAccount('a')
  await space.reserveBytes(1e15)
})

test('an account may hold up to its configured bytes', async (t) => {
  const { space, store } = await openSpace(t, { accountMaxBytes: 10 * MB })
  await store('a', 10 * MB - 1)
  await space.checkAccount('a')
  await assert.rejects(space.checkAccount('a', 2), { code: 'quota_exceeded', status: 402 })
  await store('a', 1)
  const message =
    /^QuotaExceeded: .+ it holds 10000000 of 10000000 bytes \(STENO_ACCOUNT_MAX_BYTES\)/
  await assert.rejects(space.checkAccount('a'), { code: 'quota_exceeded', message })
  await space.checkAccount('b')
})

test('one of several accounts may hold at most half of the space', async (t) => {
  const { space, store, disk } = await openSpace(t, { accounts: ['a', 'b'] })
  await store('a', 40 * MB)
  // (40 held + 50 free - 5 reserved) / 2
  await space.checkAccount('a', 2 * MB)
  await assert.rejects(space.checkAccount('a', 3 * MB), { code: 'quota_exceeded' })
  disk.free = 30 * MB
  await assert.rejects(space.checkAccount('a'), { code: 'quota_exceeded' })
  await space.checkAccount('b', 30 * MB)
})

test('the number of accounts is read again after the database failed', async (t) => {
  const { db, disk } = await openSpace(t)
  let isAway = true
  const away = {
    ...db,
    get sql() {
      if (isAway) throw new AppError('database_unavailable')
      return db.sql
    },
  }
  const space = new DiskSpace({ db: away, disk: async () => disk })
  await assert.rejects(space.checkQuota('a'), { code: 'database_unavailable' })
  isAway = false
  await space.checkQuota('a')
})

test('a single account may use the whole disk, and 0 removes the limit', async (t) => {
  const single = await openSpace(t, { accounts: ['a'] })
  await single.store('a', 90 * MB)
  await single.space.checkAccount('a', 90 * MB)
  const lifted = await openSpace(t, { accounts: ['a', 'b'], accountMaxBytes: 0 })
  await lifted.store('a', 90 * MB)
  await lifted.space.checkAccount('a', 90 * MB)
})

test('bytes being written count until the write has ended', async (t) => {
  const { space } = await openSpace(t, { accountMaxBytes: 3 * MB })
  const first = space.openReservation('a', 'new')
  await first.add(2 * MB)
  const second = space.openReservation('a', 'new')
  await assert.rejects(second.add(2 * MB), { code: 'quota_exceeded' })
  second[Symbol.dispose]()
  first[Symbol.dispose]()
  await space.checkAccount('a', 3 * MB)
})

test('a stream is stopped when the disk runs low', async (t) => {
  const { space, disk } = await openSpace(t)
  using reservation = space.openReservation('a', 'new')
  await reservation.add(64 * 1024)
  disk.free = 1 * MB
  await assert.rejects(
    async () => {
      for (let i = 0; i < 20; i++) await reservation.add(64 * 1024)
    },
    { code: 'storage_low' },
  )
})

test('accepted work may use three quarters of the reserve', async (t) => {
  const { space, disk } = await openSpace(t)
  disk.free = 4 * MB
  using accepted = space.openReservation('a', 'accepted')
  await accepted.add(1 * MB)
  using _ = await space.reserveBytes(2 * MB)
  await assert.rejects(space.reserveBytes(1 * MB), { code: 'storage_full' })
  disk.free = 1 * MB
  using late = space.openReservation('a', 'accepted')
  await assert.rejects(late.add(1), { code: 'storage_full' })
})

test('reserved bytes are unavailable to other work until released', async (t) => {
  const { space } = await openSpace(t)
  const first = await space.reserveBytes(40 * MB)
  await assert.rejects(space.reserveBytes(40 * MB), { code: 'storage_full' })
  first[Symbol.dispose]()
  await space.reserveBytes(40 * MB)
})
