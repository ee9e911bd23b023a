import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { listDiskObjects, objectPath } from '../objects/disk/disk-objects.ts'
import type { Objects } from '../objects/objects.ts'
import type { OnCount } from './transfer-rows.ts'

/** Where objects are copied from and to; counts are bytes. */
export type ObjectTransfer = {
  /** The folder of the objects. */
  source: string
  target: Objects
  signal: AbortSignal
  onCount: OnCount
}

/** An object of the folder. */
type FoundObject = { id: string; size: number }

/** Requests at a time. */
const AT_ONCE = 4

/**
 * Copies the objects that are not in the target with the same size, which has all of an object or
 * nothing.
 */
export async function copyObjects(move: ObjectTransfer): Promise<void> {
  const { source, target, signal, onCount } = move
  const present = new Set((await Array.fromAsync(target.list())).flat())
  const sourceObjects = await listFound(source)
  await eachInTurn(sourceObjects, move, async ({ id, size }) => {
    if (present.has(id) && (await target.check(id)).size === size) return
    await target.adopt(id, objectPath(source, id))
  })
  signal.throwIfAborted()
  onCount(totalSize(sourceObjects), totalSize(sourceObjects))
}

/** Reads every object from both; returns how many differ, are missing, or are too many. */
export async function countDifferentObjects(move: ObjectTransfer): Promise<number> {
  const { source, target } = move
  const sourceObjects = await listFound(source)
  const sourceIds = new Set(sourceObjects.map(({ id }) => id))
  let differing = 0
  for await (const ids of target.list()) {
    differing += ids.filter((id) => !sourceIds.has(id)).length
  }
  await eachInTurn(sourceObjects, move, async ({ id }) => {
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

async function listFound(folder: string): Promise<FoundObject[]> {
  const listedObjects: FoundObject[] = []
  for await (const ids of listDiskObjects(folder)) {
    for (const id of ids)
      listedObjects.push({ id, size: (await stat(objectPath(folder, id))).size })
  }
  return listedObjects
}

function totalSize(listedObjects: readonly FoundObject[]): number {
  return listedObjects.reduce((sum, { size }) => sum + size, 0)
}

/** Works on some objects at a time, and counts their bytes. */
async function eachInTurn(
  listedObjects: readonly FoundObject[],
  { signal, onCount }: ObjectTransfer,
  work: (object: FoundObject) => Promise<void>,
): Promise<void> {
  const total = totalSize(listedObjects)
  const remainingObjects = listedObjects.values()
  let done = 0
  async function run(): Promise<void> {
    for (const object of remainingObjects) {
      signal.throwIfAborted()
      await work(object)
      done += object.size
      onCount(done, total)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, run))
}

async function hashOfContent(source: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256')
  for await (const bytes of source) hash.update(bytes)
  return hash.digest('hex')
}
