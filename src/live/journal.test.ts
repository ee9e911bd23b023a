import assert from 'node:assert/strict'
import test from 'node:test'
import { AppError } from '../errors.ts'
import { createLog } from '../log.ts'
import { Journal } from './journal.ts'

/** Files that note what is asked of them; `fail` says how often a write, or a sync, fails first. */
function openJournal(fail: { writes?: number; syncs?: number } = {}) {
  const done: string[] = []
  const leaving = new AbortController()
  let { writes = 0, syncs = 0 } = fail
  let hasFailed = false
  const files = {
    async write(sound: Uint8Array | undefined, lines: readonly string[]) {
      if (writes-- > 0) {
        hasFailed = true
        throw new AppError('storage_full')
      }
      done.push(`write ${sound?.length ?? 0} ${lines.join('+')}`)
    },
    async sync() {
      // As the real one: it tells once of a write that failed.
      const isBad = hasFailed || syncs-- > 0
      hasFailed = false
      if (isBad) throw new AppError('storage_full')
      done.push('sync')
    },
  }
  const journal = new Journal({
    files,
    log: createLog('silent'),
    onBroken: () => done.push('broken'),
    signal: leaving.signal,
    retryMs: 1,
  })
  const append = (name: string, bytes = 0) => {
    journal.append({
      ...(bytes > 0 && { sound: new Uint8Array(bytes) }),
      lines: [name],
      onWritten: () => done.push(`${name} written`),
      onStored: () => done.push(`${name} stored`),
    })
  }
  return { journal, append, done, leaving }
}

test('what is appended is written, then synced, and each step is told', async () => {
  const { journal, append, done } = openJournal()
  append('a', 10)
  await journal.flushed()
  assert.deepEqual(done, ['write 10 a', 'a written', 'sync', 'a stored'])
})

test('what comes while the disk is busy is stored together, in order', async () => {
  const { journal, append, done } = openJournal()
  append('a', 10)
  append('b', 5)
  append('c')
  await journal.flushed()
  assert.deepEqual(
    done.filter((what) => /^(write|sync)/.test(what)),
    ['write 10 a', 'sync', 'write 5 b+c', 'sync'],
  )
  assert.deepEqual(
    done.filter((what) => what.endsWith('stored')),
    ['a stored', 'b stored', 'c stored'],
  )
})

test('a write that fails is tried again, and nothing is told before it works', async () => {
  const { journal, append, done } = openJournal({ writes: 2 })
  append('a', 10)
  assert.equal(journal.waitingBytes, 10)
  await journal.flushed()
  assert.deepEqual(done, ['write 10 a', 'a written', 'sync', 'a stored'])
  assert.equal(journal.waitingBytes, 0)
})

test('a sync that fails breaks the journal: nothing is told to be stored', async () => {
  const { journal, append, done } = openJournal({ syncs: 1 })
  append('a')
  await journal.flushed()
  assert.deepEqual(done, ['write 0 a', 'a written', 'broken'])
})

test('a session that is left does not wait for a disk that is full', async () => {
  const { journal, append, done, leaving } = openJournal({ writes: 1_000_000 })
  append('a')
  leaving.abort()
  await journal.flushed()
  assert.deepEqual(done, [])
})
