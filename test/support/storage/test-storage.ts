import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createLog } from '../../../src/observability/log.ts'
import { openStorage, type Storage, type StorageOptions } from '../../../src/storage/storage.ts'
import { connectInProcess } from './databases/in-process-sqlite.ts'

/** Creates an empty folder that is removed with the test. */
export async function makeFolder(t: Pick<TestContext, 'after'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  // The hooks run in order, so a store in the folder may still be writing.
  t.after(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/** Opens the store of a folder without threads; the caller closes it. */
export function openFolder(
  folder: string,
  options: Partial<StorageOptions> = {},
): Promise<Storage> {
  const log = createLog('silent')
  return openStorage({ folder, log, connect: connectInProcess, ...options })
}

/** Opens a store in a folder of its own; both are removed with the test. */
export async function openTestStorage(t: TestContext): Promise<Storage & { folder: string }> {
  const folder = await makeFolder(t)
  const storage = await openFolder(folder)
  t.after(() => storage.close())
  return { ...storage, folder }
}
