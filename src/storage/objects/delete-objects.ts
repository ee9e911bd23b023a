import { setTimeout as delay } from 'node:timers/promises'
import type { Objects } from './objects.ts'

/** How long objects wait for their store to be back. */
const PAUSE_MS = 10_000

/**
 * Deletes objects until one cannot be deleted, which `onFailure` learns, or until `signal` aborts.
 * Returns those that are left, the one that cannot be deleted last.
 */
export async function deleteObjects(
  objects: Pick<Objects, 'delete'>,
  ids: readonly string[],
  { signal, onFailure }: { signal?: AbortSignal; onFailure?: (error: unknown) => void } = {},
): Promise<string[]> {
  for (const [i, id] of ids.entries()) {
    if (signal?.aborted) return ids.slice(i)
    try {
      await objects.delete(id)
    } catch (error) {
      onFailure?.(error)
      return [...ids.slice(i + 1), id]
    }
  }
  return []
}

/**
 * Deletes objects that no row refers to as soon as their store is back; ends with `signal`, and the
 * next start then removes them.
 */
export async function deleteLater(
  objects: Pick<Objects, 'delete'>,
  ids: readonly string[],
  { signal, pauseMs = PAUSE_MS }: { signal: AbortSignal; pauseMs?: number },
): Promise<void> {
  for (let left = ids; left.length > 0 && !signal.aborted; ) {
    await delay(pauseMs, undefined, { signal, ref: false }).catch(() => {})
    left = await deleteObjects(objects, left, { signal })
  }
}
