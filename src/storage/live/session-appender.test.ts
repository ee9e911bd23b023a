import assert from 'node:assert/strict'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { makeFolder } from '../../../test/support/storage/test-storage.ts'
import { SessionAppender } from './session-appender.ts'

async function makeFiles(t: TestContext, paths: { audio?: string; log?: string } = {}) {
  const folder = await makeFolder(t)
  const open_ = async (path: string): Promise<FileHandle> => {
    const handle = await open(path, 'a+')
    t.after(() => handle.close())
    return handle
  }
  const audio = await open_(paths.audio ?? join(folder, 'sound'))
  const log = await open_(paths.log ?? join(folder, 'log'))
  return new SessionAppender({ audio, log, audioStart: 0 }, { audioBytes: 0, logBytes: 0 })
}

const devices = { skip: process.platform !== 'linux' && 'needs /dev/full' }

test('after a failed write that cannot be undone all calls fail', devices, async (t) => {
  const appender = await makeFiles(t, { log: '/dev/full' })
  const full = { code: 'storage_full' }
  await assert.rejects(appender.write(Buffer.from('x'), ['line']), full)
  assert.deepEqual(appender.sizes, { audioBytes: 0, logBytes: 0 })
  await assert.rejects(appender.write(Buffer.from('x'), []), full)
  await assert.rejects(appender.sync(), full)
})

test('after a failed sync all calls fail', devices, async (t) => {
  const appender = await makeFiles(t, { audio: '/dev/null' })
  await appender.write(Buffer.from('x'), ['line'])
  await assert.rejects(appender.sync(), { code: 'EINVAL' })
  await assert.rejects(appender.sync(), { code: 'EINVAL' })
  await assert.rejects(appender.write(undefined, ['line']), { code: 'EINVAL' })
})

test('sync() flushes only the files that changed', devices, async (t) => {
  const appender = await makeFiles(t, { audio: '/dev/null' })
  await appender.write(undefined, ['line'])
  await appender.sync()
  await appender.write(Buffer.from('x'), [])
  await assert.rejects(appender.sync(), { code: 'EINVAL' })
})
