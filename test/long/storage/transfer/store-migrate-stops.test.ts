// `steno store migrate` is stopped at each stage, and its folder changes meanwhile.
import assert from 'node:assert/strict'
import { stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { sql } from 'kysely'
import { createLog } from '../../../../src/observability/log.ts'
import { listDiskObjects, objectPath } from '../../../../src/storage/objects/disk/disk-objects.ts'
import { openStorage } from '../../../../src/storage/storage.ts'
import {
  type TransferOptions,
  type TransferStage,
  transferStore,
} from '../../../../src/storage/transfer/transfer-store.ts'
import { createDatabase, noPostgres } from '../../../support/storage/databases/test-postgres.ts'
import { noS3, s3Settings } from '../../../support/storage/objects/test-s3.ts'
import { makeFolder } from '../../../support/storage/test-storage.ts'
import { checkMoved, fillStore } from '../../../support/storage/upgrades/filled-store.ts'

const log = createLog('silent')
const skip = noPostgres || noS3
const FILLING = { jobs: 700, objects: 12 }
const { signal } = new AbortController()

function move(folder: string, given: Partial<TransferOptions> = {}): Promise<void> {
  const usual = { isRestarted: false, database: undefined, objectStore: undefined, signal }
  return transferStore({ folder, onProgress() {}, ...usual, ...given })
}

/** Aborts a move when it has come so far in a stage. */
function abortAt(
  stage: TransferStage,
  part: number,
): Pick<TransferOptions, 'signal' | 'onProgress'> {
  const abort = new AbortController()
  return {
    signal: abort.signal,
    onProgress(now, done, total) {
      if (now === stage && done >= total * part) abort.abort(new Error('stopped'))
    },
  }
}

const stops: [TransferStage, number][] = [
  ['copying objects', 0.1],
  ['comparing objects', 0.1],
  ['copying rows', 0.5],
  ['comparing rows', 0.5],
]

test('an interrupted move is resumed, and its targets are unused until the end', {
  skip,
}, async (t) => {
  const folder = await fillStore(t, FILLING)
  const targets = { database: await createDatabase(), objectStore: await s3Settings() }
  for (const [stage, part] of stops) {
    await assert.rejects(move(folder, { ...targets, ...abortAt(stage, part) }), /stopped/)
    const empty = { folder: await makeFolder(t), log }
    for (const target of [{ database: targets.database }, { objectStore: targets.objectStore }]) {
      await assert.rejects(openStorage({ ...empty, ...target }), /is being moved into it/)
    }
  }
  const other = await fillStore(t, { jobs: 1, objects: 1 })
  await assert.rejects(move(other, targets), /another data folder is being moved/)
  await move(folder, targets)
  await checkMoved({ folder: await makeFolder(t), ...targets }, FILLING)
})

test('a folder changed during a move is detected, and a restart moves it', {
  skip,
}, async (t) => {
  const folder = await fillStore(t, FILLING)
  const targets = { database: await createDatabase(), objectStore: await s3Settings() }
  await assert.rejects(move(folder, { ...targets, ...abortAt('copying rows', 0.9) }), /stopped/)
  const [ids] = await Array.fromAsync(listDiskObjects(join(folder, 'objects')))
  const path = objectPath(join(folder, 'objects'), ids![0]!)
  await writeFile(path, 'X'.repeat((await stat(path)).size))
  await assert.rejects(move(folder, targets), /1 objects differ: .* '--restart'/)
  const { db, close } = await openStorage({ folder, log })
  await sql`update jobs set attempt = 3 where created_at = 0`.execute(db.sql)
  await close()
  await assert.rejects(move(folder, { database: targets.database }), /The rows of jobs differ/)
  await move(folder, { ...targets, isRestarted: true })
  await checkMoved({ folder: await makeFolder(t), ...targets }, FILLING)
})
