import assert from 'node:assert/strict'
import { mkdir, readdir, rename, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import type { DecodedMedia } from '../../../audio/decoder/decoder-messages.ts'
import { openCheckpoints, removeCheckpoints, removeStaleCheckpoints } from './checkpoints.ts'

/** Decodes two channels with identical audio, and counts the calls. */
function createDecoder() {
  const decoder = { runs: 0, work }
  async function work(folder: string): Promise<DecodedMedia> {
    decoder.runs++
    assert.deepEqual(await readdir(folder), [], 'an empty folder')
    const path = join(folder, 'ch0.pcm')
    await writeFile(path, Buffer.alloc(2000))
    const [first, second] = [
      { channel: 0, path, samples: 1000, sameAs: null },
      { channel: 1, path: join(folder, 'ch1.pcm'), samples: 1000, sameAs: 0 },
    ]
    return { duration: 0.0625, channels: [first, second] }
  }
  return decoder
}

test('a decoded recording is reused, even after its folder moved', async (t) => {
  const home = await makeFolder(t)
  const decoder = createDecoder()
  const before = await openCheckpoints(join(home, 'before'), 'job')
  const decoded = await before.decode(decoder.work)
  await before[Symbol.asyncDispose]()
  await rename(join(home, 'before'), join(home, 'after'))

  await using after = await openCheckpoints(join(home, 'after'), 'job')
  const again = await after.decode(decoder.work)
  assert.equal(decoder.runs, 1)
  assert.equal(again.duration, decoded.duration)
  assert.equal(again.channels[0]?.path, join(home, 'after', 'job', 'pcm', 'ch0.pcm'))
})

test('a recording with missing samples is decoded again', async (t) => {
  const home = await makeFolder(t)
  const decoder = createDecoder()
  await using checkpoints = await openCheckpoints(home, 'job')
  const { channels } = await checkpoints.decode(decoder.work)
  await truncate(channels[0]!.path, 1998)
  await checkpoints.decode(decoder.work)
  assert.equal(decoder.runs, 2)
})

test('an interrupted decoding is not reused', async (t) => {
  const home = await makeFolder(t)
  const decoder = createDecoder()
  await using checkpoints = await openCheckpoints(home, 'job')
  const cutOff = checkpoints.decode(async (folder) => {
    await writeFile(join(folder, 'ch0.pcm'), 'half')
    throw new Error('killed')
  })
  await assert.rejects(cutOff, /killed/)
  await checkpoints.decode(decoder.work)
  assert.equal(decoder.runs, 1)
})

test('detected speech is reused per channel and segment length', async (t) => {
  const home = await makeFolder(t)
  const found = [{ start: 0, end: 9 }]
  const part = { channel: 1, maxSeconds: 15 }
  await using checkpoints = await openCheckpoints(home, 'job')
  assert.deepEqual(await checkpoints.checkpointSpeech(part, async () => found), found)
  assert.deepEqual(await checkpoints.checkpointSpeech(part, async () => []), found)
  assert.deepEqual(await checkpoints.checkpointSpeech({ ...part, channel: 0 }, async () => []), [])
  assert.deepEqual(
    await checkpoints.checkpointSpeech({ ...part, maxSeconds: 30 }, async () => []),
    [],
  )
})

test('embeddings are reused only by the model that made them', async (t) => {
  const home = await makeFolder(t)
  await using checkpoints = await openCheckpoints(home, 'job')
  const recognized: string[] = []
  const embed = (model: string, part = 0) => {
    return checkpoints.checkpointEmbeddings({ channel: 1, part, model }, async (file) => {
      recognized.push(`${part} ${model}`)
      await writeFile(file, model)
    })
  }
  const first = await embed('old')
  assert.equal(await embed('old'), first)
  assert.notEqual(await embed('new'), first)
  assert.notEqual(await embed('old', 1), first)
  assert.deepEqual(recognized, ['0 old', '0 new', '1 old'])
})

test('errors of the file system are mapped to documented ones', async (t) => {
  const home = await makeFolder(t)
  await using checkpoints = await openCheckpoints(home, 'job')
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  const failing = async () => Promise.reject(full)
  await assert.rejects(checkpoints.decode(failing), { code: 'storage_full' })
  await assert.rejects(checkpoints.checkpointSpeech({ channel: 0, maxSeconds: 15 }, failing), {
    code: 'storage_full',
  })
})

test('checkpoints of deleted jobs are removed, those of active jobs are kept', async (t) => {
  const home = await makeFolder(t)
  for (const job of ['active', 'gone']) await mkdir(join(home, job, 'pcm'), { recursive: true })
  await removeStaleCheckpoints(home, async () => ['active'])
  assert.deepEqual(await readdir(home), ['active'])
  await removeCheckpoints(home, 'active')
  await removeCheckpoints(home, 'never there')
  assert.deepEqual(await readdir(home), [])
})

test('the groups of channels are reused, even after its folder moved', async (t) => {
  const home = await makeFolder(t)
  let runs = 0
  const work = async (folder: string) => {
    runs++
    await mkdir(folder)
    const path = join(folder, 'ch0.pcm')
    await writeFile(path, Buffer.alloc(2000))
    return [{ channel: 0, path, samples: 1000, sourceChannels: [0, 1] }]
  }
  const before = await openCheckpoints(join(home, 'before'), 'job')
  const decided = await before.channelGroups(work)
  await before[Symbol.asyncDispose]()
  await rename(join(home, 'before'), join(home, 'after'))
  await using after = await openCheckpoints(join(home, 'after'), 'job')
  const path = join(home, 'after', 'job', 'channels', 'ch0.pcm')
  assert.deepEqual(await after.channelGroups(work), [{ ...decided[0], path }])
  assert.equal(runs, 1)
})
