import { type Db, inTransaction } from './db.ts'

/** Maximum requests of one transaction; this many delay other writers by some milliseconds. */
const MAX_GROUP_SIZE = 50

type PendingRequest<T, R> = { request: T; outcome: PromiseWithResolvers<R> }

/** How requests are written together. */
export type GroupOptions<T, R> = {
  /**
   * Requests of one transaction are written in the order of these names, so that two processes lock
   * what they have in common in the same order.
   */
  orderBy?: (request: T) => string
  /**
   * Whether statements of other requests may run between those of this request: they are then sent
   * together, if the database supports that.
   */
  mayOverlap?: (request: T) => boolean
  /**
   * Returns the result of a request that was already written. With it, requests whose commit got no
   * response are repeated, too; without it, they are rejected.
   */
  findWritten?: (tx: Db, request: T) => Promise<R | undefined>
}

/**
 * Returns a function that runs `write` in a transaction. Requests that arrive during a transaction
 * share the next one, in their order, and with it one disk sync. A call resolves when its request
 * is on disk. If a shared transaction fails, each of its requests is repeated in a separate
 * transaction, so that a problem with one request does not fail the others.
 */
export function createGroupCommit<T, R>(
  db: Db,
  write: (tx: Db, request: T) => Promise<R>,
  { orderBy, mayOverlap = () => false, findWritten }: GroupOptions<T, R> = {},
): (request: T) => Promise<R> {
  const waiting: PendingRequest<T, R>[] = []
  let isWriting = false

  async function run(): Promise<void> {
    isWriting = true
    while (waiting.length > 0) await writeGroup(sortGroup(waiting.splice(0, MAX_GROUP_SIZE)))
    isWriting = false
  }

  function sortGroup(group: PendingRequest<T, R>[]): PendingRequest<T, R>[] {
    if (!orderBy) return group
    const keyed = group.map((entry) => ({ entry, key: orderBy(entry.request) }))
    const inOrder = keyed.sort((a, b) => Number(a.key > b.key) - Number(a.key < b.key))
    return inOrder.map(({ entry }) => entry)
  }

  async function writeGroup(
    group: readonly PendingRequest<T, R>[],
    { mayBeWritten = false } = {},
  ): Promise<void> {
    let isCommitting = false
    try {
      const results = await inTransaction(db, async (tx) => {
        isCommitting = false
        const [{ request }] = group as [PendingRequest<T, R>]
        const earlier = mayBeWritten ? await findWritten!(tx, request) : undefined
        const written = earlier === undefined ? await writeAll(tx, group) : [earlier]
        isCommitting = true
        return written
      })
      for (const [i, { outcome }] of group.entries()) outcome.resolve(results[i]!)
    } catch (error) {
      const isUnknown = isCommitting && db.dialect.isOutcomeUnknown(error)
      const mustRepeat = isUnknown ? findWritten && !mayBeWritten : group.length > 1
      for (const pending of group) {
        if (mustRepeat) await writeGroup([pending], { mayBeWritten: isUnknown })
        else pending.outcome.reject(error)
      }
    }
  }

  async function writeAll(tx: Db, group: readonly PendingRequest<T, R>[]): Promise<R[]> {
    const results: Promise<R>[] = []
    try {
      for (const { request } of group) {
        const result = write(tx, request)
        results.push(result)
        // The transaction fails with the first error, below.
        result.catch(() => {})
        if (!tx.dialect.isPipelined || !mayOverlap(request)) await result
      }
      return await Promise.all(results)
    } finally {
      // No statement may follow the end of the transaction.
      await Promise.allSettled(results)
    }
  }

  return (request) => {
    const outcome = Promise.withResolvers<R>()
    waiting.push({ request, outcome })
    if (!isWriting) void run()
    return outcome.promise
  }
}
