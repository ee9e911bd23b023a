import type { CompiledQuery } from 'kysely'
import { type Db, inTransaction } from './db.ts'
import { runBatch } from './statement.ts'

/** Maximum requests of one transaction; this many delay other writers by some milliseconds. */
const MAX_GROUP_SIZE = 50
/** The database executes one batch while the responses to another one are sent. */
const MAX_BATCHES = 2

/**
 * A request as statements that need no row of an earlier one. `result` reads the rows of each; it
 * returns undefined if the statements changed nothing and `write` is to handle the request.
 */
export type BatchRequest<R> = {
  statements: readonly CompiledQuery[]
  result(rows: readonly unknown[][]): R | undefined
}

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
   * Returns a request as a batch, if it is one: batches are sent with their whole transaction at
   * once, where the dialect `isPipelined`.
   */
  toBatch?: (request: T) => BatchRequest<R> | undefined
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
 * transaction, so that a problem with one request does not fail the others. Requests of a failed
 * batch are written like those that are none.
 */
export function createGroupCommit<T, R>(
  db: Db,
  write: (tx: Db, request: T) => Promise<R>,
  options: GroupOptions<T, R> = {},
): (request: T) => Promise<R> {
  const enqueue = createTransactions(db, write, options)
  const sendToBatches = createBatches(db, enqueue)

  return (request) => {
    const outcome = Promise.withResolvers<R>()
    const batch = db.dialect.isPipelined ? options.toBatch?.(request) : undefined
    if (batch) sendToBatches({ request, outcome, batch })
    else enqueue([{ request, outcome }])
    return outcome.promise
  }
}

/** Takes requests that wait to be written. */
type Enqueue<T, R> = (requests: readonly PendingRequest<T, R>[]) => void

/** Returns a function that writes requests in transactions. */
function createTransactions<T, R>(
  db: Db,
  write: (tx: Db, request: T) => Promise<R>,
  { orderBy, mayOverlap = () => false, findWritten }: GroupOptions<T, R>,
): Enqueue<T, R> {
  const waiting: PendingRequest<T, R>[] = []
  let isWriting = false

  async function run(): Promise<void> {
    isWriting = true
    while (waiting.length > 0) {
      await writeGroup(sortGroup(waiting.splice(0, MAX_GROUP_SIZE), orderBy))
    }
    isWriting = false
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

  return (requests) => {
    waiting.push(...requests)
    if (!isWriting && waiting.length > 0) void run()
  }
}

function sortGroup<T, R>(
  group: PendingRequest<T, R>[],
  orderBy: GroupOptions<T, R>['orderBy'],
): PendingRequest<T, R>[] {
  if (!orderBy) return group
  const keyed = group.map((entry) => ({ entry, key: orderBy(entry.request) }))
  const inOrder = keyed.sort((a, b) => Number(a.key > b.key) - Number(a.key < b.key))
  return inOrder.map(({ entry }) => entry)
}

/**
 * Returns a function that writes requests in batches; `enqueue` gets those that are not written
 * that way. Requests that arrive while two batches are written share the next one. The second waits
 * until it is as large as the first, since each batch takes a disk sync.
 */
function createBatches<T, R>(
  db: Db,
  enqueue: Enqueue<T, R>,
): (request: PendingRequest<T, R> & { batch: BatchRequest<R> }) => void {
  const waiting: (PendingRequest<T, R> & { batch: BatchRequest<R> })[] = []
  const sizes: number[] = []

  function isDue(): boolean {
    if (waiting.length === 0 || sizes.length >= MAX_BATCHES) return false
    return waiting.length >= (sizes[0] ?? 0)
  }

  async function send(): Promise<void> {
    while (isDue()) {
      const group = waiting.splice(0, MAX_GROUP_SIZE)
      sizes.push(group.length)
      enqueue(await writeBatch(group))
      sizes.shift()
    }
  }

  /** Returns the requests that were not written. */
  async function writeBatch(group: typeof waiting): Promise<typeof waiting> {
    try {
      const rows = await runBatch(
        db,
        group.flatMap(({ batch }) => batch.statements),
      )
      return group.filter(({ batch: { statements, result }, outcome }) => {
        const written = result(rows.splice(0, statements.length))
        if (written !== undefined) outcome.resolve(written)
        return written === undefined
      })
    } catch {
      return group
    }
  }

  return (request) => {
    waiting.push(request)
    void send()
  }
}
