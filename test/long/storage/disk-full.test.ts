import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { AppError } from '../../../src/errors.ts'
import { throwStorageError } from '../../../src/storage/data-folder/storage-error.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createFakeMedia, fakeRecording } from '../../support/audio/fake-media.ts'
import { ACCOUNT, openService, type ServiceOptions } from '../../support/jobs/test-service.ts'
import { fillDisk } from '../../support/storage/fill-disk.ts'
import { mountSmallDisk } from '../../support/storage/small-disk.ts'

const DISK_BYTES = 2 * 1024 * 1024
const account = ACCOUNT
const { signal } = new AbortController()

/** Whether space ran out; the measurement that `storage_low` needs may be a moment old. */
function isOutOfSpace({ code }: AppError): boolean {
  return code === 'storage_low' || code === 'storage_full'
}

/** Runs `work` with a service whose data lies on a disk of 2 MB. */
async function onSmallDisk(
  t: TestContext,
  options: ServiceOptions,
  work: (service: Awaited<ReturnType<typeof openService>>) => Promise<void>,
): Promise<void> {
  const disk = mountSmallDisk(DISK_BYTES)
  if (!disk) return t.skip('needs the right to mount a small disk')
  try {
    const service = await openService(t, { ...options, folder: disk.folder })
    try {
      await work(service)
    } finally {
      await service.close()
    }
  } finally {
    disk.unmount()
  }
}

test('an upload that does not fit on the disk is rejected, and the next accepted', async (t) => {
  await onSmallDisk(t, {}, async (service) => {
    await service.jobs.start()
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) yield new Uint8Array(64 * 1024)
    }
    const upload = { filename: 'long.wav', body: endless(), signal }
    await assert.rejects(service.jobs.service.upload(account, upload), isOutOfSpace)
    // A measurement of the disk holds for a moment.
    while ((await service.storage.space.state()).isLow) await delay(5)
    assert.equal((await service.ended(await service.submit({ seconds: 4 }))).status, 'done')
  })
})

test('a job whose decoded audio does not fit is retried without using an attempt', async (t) => {
  let tries = 0
  const media = createFakeMedia(async (folder) => {
    if (tries++ > 0) return
    const flood = writeFile(join(folder, 'ch0.pcm'), Buffer.alloc(2 * DISK_BYTES))
    await flood.catch(throwStorageError)
  })
  await onSmallDisk(t, { media }, async (service) => {
    await service.jobs.start()
    const job = await service.ended(await service.submit({ seconds: 4 }))
    assert.equal(job.status, 'done')
    assert.equal(tries, 2)
    assert.deepEqual(await readdir(join(service.folder, 'work')), [])
    assert.equal((await service.ended(await service.submit({ seconds: 4 }))).status, 'done')
  })
})

test('a full disk delays all jobs and loses none', async (t) => {
  const semaphore = Promise.withResolvers<void>()
  const came = Promise.withResolvers<void>()
  const speech = createFakeSpeechEngine('hello', {
    onBatch: async () => {
      came.resolve()
      await semaphore.promise
    },
  })
  await onSmallDisk(t, { speech }, async (service) => {
    await service.jobs.start()
    const { id: fileId } = await service.jobs.service.upload(account, {
      filename: 'talk.wav',
      body: fakeRecording({ seconds: 4 }),
      signal,
    })
    const request = { params: {}, customMetadata: null, fileId, source: null }
    const held = await service.jobs.service.submit(account, request)
    await came.promise
    const accepted = [
      (await service.jobs.service.submit(account, request)).id,
      (await service.jobs.service.submit(account, request)).id,
    ]
    const ballast = await fillDisk(service.folder)
    try {
      await assert.rejects(service.submit({ seconds: 4 }), isOutOfSpace)
      await assert.rejects(service.jobs.service.submit(account, request), isOutOfSpace)
    } finally {
      semaphore.resolve()
    }
    // What it heard cannot be kept; first of all it frees the space of its own work.
    const work = join(service.folder, 'work', held.id)
    while (existsSync(work)) await delay(5)
    await ballast.free()
    assert.equal((await service.ended(held.id)).status, 'done')
    for (const id of accepted) assert.equal((await service.ended(id)).status, 'done')
    assert.equal((await service.ended(await service.submit({ seconds: 4 }))).status, 'done')
  })
})
