import type { Log } from '../../../observability/log.ts'
import { measureOldResults } from '../../accounts/account-bytes.ts'
import type { Db } from '../../database/db.ts'
import { findActiveNodes, NODE_TIMEOUT_MS } from '../../database/nodes/register-node.ts'
import type { ActiveNodes } from '../object-store.ts'
import { findAwaitedObjects, listEarlierObjects, removeOrphanObjects } from './orphan-objects.ts'
import type { Orphans } from './orphans.ts'

/** The dependencies of a sweep. */
export type SweepDeps = { db: Db; log: Log; orphans: Orphans | undefined }

type SweepOptions = SweepDeps & { signal: AbortSignal }

/** Removes the remains of dead processes in the background. */
export class Sweeper {
  readonly #deps: SweepDeps
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<void>>()
  #timer: NodeJS.Timeout | undefined

  constructor(deps: SweepDeps) {
    this.#deps = deps
  }

  /** Sweeps at the start of this process, see `beginSweep`. */
  async start({ isAlone }: { isAlone: boolean }): Promise<{ done: Promise<void> }> {
    const { done } = await beginSweep(this.#options, { isAlone })
    this.#track(done, 'cannot sweep the objects')
    // By then, processes that died shortly before this one started are no longer considered alive.
    this.#timer = setTimeout(() => {
      this.#track(removeUnfinished(this.#deps), 'cannot remove unfinished files')
    }, 2 * NODE_TIMEOUT_MS).unref()
    return { done }
  }

  /** Sweeps after other nodes have died. */
  sweepAgain(): void {
    if (this.#closing.signal.aborted) return
    const swept = beginSweep(this.#options, { isAlone: false }).then(({ done }) => done)
    this.#track(swept, 'cannot sweep the objects')
  }

  /** Stops the sweeps. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#closing.abort()
    await Promise.all(this.#running)
  }

  get #options(): SweepOptions {
    return { ...this.#deps, signal: this.#closing.signal }
  }

  #track(work: Promise<void>, failure: string): void {
    const tracked = work
      .catch((err) => this.#deps.log.error({ err }, failure))
      .finally(() => this.#running.delete(tracked))
    this.#running.add(tracked)
  }
}

/**
 * Begins to remove the remains of dead processes: unfinished writes and unreferenced objects.
 * Resolves when no write of this process can collide with those of dead ones; `done` resolves when
 * everything is moved. `isAlone` means that no other process is alive, so all of it is from dead
 * processes.
 */
async function beginSweep(
  options: SweepOptions,
  { isAlone }: { isAlone: boolean },
): Promise<{ done: Promise<void> }> {
  const { db } = options
  const activeNodes = await findActiveNodes(db)
  const { clockMarginMs } = db.objects
  // Listing a bucket takes minutes, too, so in a bucket the age of an object shows that a dead
  // process left it.
  if (clockMarginMs !== undefined) {
    const before = activeNodes.since - clockMarginMs
    return { done: finishSweep(options, () => sweepByTime({ ...options, before }, activeNodes)) }
  }
  await db.objects.removeUnfinished(activeNodes)
  const sweepOptions = { ...options, before: isAlone ? undefined : activeNodes.since }
  const earlier = await listEarlierObjects(db, sweepOptions)
  // This runs in the background, because looking up millions of objects on a slow disk takes
  // minutes.
  return { done: finishSweep(options, () => removeOrphanObjects(db, earlier, sweepOptions)) }
}

/** Removes the unfinished writes of dead processes. */
async function removeUnfinished({ db }: Pick<SweepDeps, 'db'>): Promise<void> {
  await db.objects.removeUnfinished(await findActiveNodes(db))
}

async function sweepByTime(
  options: SweepOptions & { before: number },
  activeNodes: ActiveNodes,
): Promise<number> {
  const { db, signal } = options
  await db.objects.removeUnfinished(activeNodes)
  let removed = 0
  for await (const ids of db.objects.list()) {
    if (signal.aborted) break
    const awaited = await findAwaitedObjects(db, ids)
    removed += await removeOrphanObjects(db, [ids.filter((id) => !awaited.has(id))], options)
  }
  return removed
}

async function finishSweep(options: SweepOptions, remove: () => Promise<number>): Promise<void> {
  const { db, log, orphans, signal } = options
  try {
    const removed = await remove()
    const msg = orphans
      ? 'moved objects that nothing refers to'
      : 'removed objects that nothing refers to'
    if (removed > 0) log.warn({ removed, ...(orphans && { to: 'orphans' }) }, msg)
    const measured = await measureOldResults(db, { signal })
    if (measured > 0) log.info({ measured }, 'recorded the sizes of results')
  } catch (error) {
    log.error({ err: error }, 'cannot remove orphaned objects')
  }
}
