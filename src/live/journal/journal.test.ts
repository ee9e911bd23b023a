import assert from 'node:assert/strict'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { makeFolder } from '../../../test/support/storage/test-storage.ts'
import { createLog } from '../../observability/log.ts'
import { SessionAppender } from '../../storage/live/session-appender.ts'
import { Journal } from './journal.ts'

type Fault = 'write' | 'truncate' | 'datasync'

/** Opens a journal over real files whose log fails on demand. */
async function openJournal(t: TestContext, { maxLogBytes }: { maxLogBytes?: number } = {}) {
  const folder = await makeFolder(t)
  const audio = await open(join(folder, 'sound'), 'w+')
  const log = await open(join(folder, 'log'), 'w+')
  const faults = new Set<Fault>()
  const failing = new Proxy(log, {
    get(file, name: keyof FileHandle) {
      const fault = name === 'writev' ? 'write' : name
      if (faults.has(fault as Fault)) {
        return () => Promise.reject(Object.assign(new Error('no room'), { code: 'ENOSPC' }))
      }
      const member = file[name]
      return typeof member === 'function' ? member.bind(file) : member
    },
  })
  const sizes = { audioBytes: 0, logBytes: 0 }
  const store = new SessionAppender({ audio, log: failing, audioStart: 0 }, sizes)
  const leaving = new AbortController()
  const { signal } = leaving
  const journal = new Journal({ store, log: createLog('silent'), signal, maxLogBytes })
  const broken = Array.fromAsync(journal.progress()).then(
    () => assert.equal(signal.aborted, true),
    (error: unknown) => error,
  )
  t.after(async () => {
    leaving.abort()
    await store.close()
    await audio.close()
    await log.close()
  })
  const stored: string[] = []
  const append = (line: string) => {
    const appended = journal.append({ audio: Buffer.from(line), lines: [line] })
    void appended.written.then(() => stored.push(`${line} written`))
    void appended.durable.then(() => stored.push(line))
  }
  return { journal, faults, broken, leaving, stored, append, store, log }
}

test('while the disk is full nothing is acknowledged, then everything in order', async (t) => {
  const { journal, faults, stored, append, store, log } = await openJournal(t)
  append('one')
  await journal.flushed()
  faults.add('write')
  append('two')
  append('three')
  await assert.rejects(store.write(undefined, ['x'])) // By now they have been tried.
  assert.deepEqual(stored, ['one written', 'one'])
  assert.equal(await journal.flushedWithin(1), false)
  faults.delete('write')
  await journal.flushed()
  append('four')
  await journal.flushed()
  const done = ['two', 'three', 'four']
  assert.deepEqual(
    stored.filter((line) => done.includes(line)),
    done,
  )
  assert.equal(journal.waitingBytes, 0)
  assert.equal(await journal.flushedWithin(60_000), true)
  assert.equal(String((await log.readFile()).subarray(0)).includes('two\nthree\nfour\n'), true)
})

for (const faults of [['datasync'], ['write', 'truncate']] as const) {
  test(`a journal failing at ${faults.join(' and ')} breaks and stores nothing`, async (t) => {
    const opened = await openJournal(t)
    for (const fault of faults) opened.faults.add(fault)
    opened.append('one')
    await opened.broken
    assert.equal(await opened.journal.flushedWithin(60_000), false)
    assert.ok(!opened.stored.includes('one'))
  })
}

test('records written after suspend are not stored and do not block', async (t) => {
  const { journal, leaving, stored, append } = await openJournal(t)
  leaving.abort()
  append('late')
  await journal.flushed()
  assert.deepEqual(stored, [])
})

test('a journal is full by the bytes of its lines, not by their characters', async (t) => {
  const { journal, append } = await openJournal(t, { maxLogBytes: 30 })
  append('字'.repeat(9))
  assert.equal(journal.isFull, false)
  append('字')
  assert.equal(journal.isFull, true)
})
