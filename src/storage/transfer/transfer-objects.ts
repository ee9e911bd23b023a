import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { listDiskObjects, objectPath } from '../objects/disk/disk-objects.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { OnCount } from './transfer-rows.ts'

/** The source and the target of copied objects; counts are bytes. */
export type ObjectTransfer = {
  /** The folder of the objects. */
  source: string
  target: ObjectStore
  signal: AbortSignal
  onCount: OnCount
}

/** An object of the folder. */
type SourceObject = { id: string; size: number }

/** The number of objects that are processed at a time. */
const CONCURRENCY = 4

/**
 * Copies the objects that the target does not have with the same size. The target has either all of
 * an object or nothing.
 */
export async function copyObjects(transfer: ObjectTransfer): Promise<void> {
  const { source, target, signal, onCount } = transfer
  const present = new Set((await Array.fromAsync(target.list())).flat())
  const sourceObjects = await listSourceObjects(source)
  await forEachObject(sourceObjects, transfer, async ({ id, size }) => {
    if (present.has(id) && (await target.check(id)).size === size) return
    await target.adopt(id, objectPath(source, id))
  })
  signal.throwIfAborted()
  onCount(totalSize(sourceObjects), totalSize(sourceObjects))
}

/**
 * Reads every object from both; returns how many differ, are missing, or exist only in the target.
 */
export async function countDifferentObjects(transfer: ObjectTransfer): Promise<number> {
  const { source, target } = transfer
  const sourceObjects = await listSourceObjects(source)
  const sourceIds = new Set(sourceObjects.map(({ id }) => id))
  let differing = 0
  for await (const ids of target.list()) {
    differing += ids.filter((id) => !sourceIds.has(id)).length
  }
  await forEachObject(sourceObjects, transfer, async ({ id }) => {
    const [before, after] = await Promise.all([
      hashOfContent(createReadStream(objectPath(source, id))),
      target.read(id).then(
        ({ body }) => hashOfContent(body),
        (error: unknown) => {
          if ((error as { code?: unknown }).code === 'file_not_found') return undefined
          throw error
        },
      ),
    ])
    if (before !== after) differing++
  })
  return differing
}

async function listSourceObjects(folder: string): Promise<SourceObject[]> {
  const objects: SourceObject[] = []
  for await (const ids of listDiskObjects(folder)) {
    for (const id of ids) objects.push({ id, size: (await stat(objectPath(folder, id))).size })
  }
  return objects
}

function totalSize(objects: readonly SourceObject[]): number {
  return objects.reduce((sum, { size }) => sum + size, 0)
}

/** Runs `work` for each object, for a few at a time, and counts their bytes. */
async function forEachObject(
  objects: readonly SourceObject[],
  { signal, onCount }: ObjectTransfer,
  work: (object: SourceObject) => Promise<void>,
): Promise<void> {
  const total = totalSize(objects)
  const remainingObjects = objects.values()
  let done = 0
  async function run(): Promise<void> {
    for (const object of remainingObjects) {
      signal.throwIfAborted()
      await work(object)
      done += object.size
      onCount(done, total)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, run))
}

async function hashOfContent(source: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of source) hash.update(bytes)
  return hash.digest('hex')
}
