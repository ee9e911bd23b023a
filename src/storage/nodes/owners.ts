import { type SqlBool, sql } from 'kysely'
import { followClock } from '../../clock.ts'
import type { Log } from '../../observability/log.ts'
import { type Db, inTransaction } from '../database/db.ts'

/** The interval of the heartbeats of an owner. */
const HEARTBEAT_MS = 10_000
/** An owner is considered dead after this time; two heartbeats may fail. */
export const OWNER_TIMEOUT_MS = 3 * HEARTBEAT_MS

/** The columns of `owners` that an owner sets, which others read. */
export type OwnerInfo = {
  readonly row: { host: string; pid: number; url: string | null; state: string }
  /** Called when the row of the owner exists. */
  registered(db: Db): void
}

/** How an owner registers, and how it treats dead owners. */
export type OwnerOptions = {
  log: Log
  /** Nothing else can have the database open, so all earlier owners are dead. */
  isAlone: boolean
  /** Called when other owners have died. */
  onNodesLost: () => void
  /** The data of this process for other owners. */
  node: OwnerInfo
  heartbeatMs?: number | undefined
}

/**
 * Registers this process, as `db.owner`, and keeps its heartbeat. The returned function removes it.
 */
export async function registerOwner(
  db: Db,
  { log, isAlone, onNodesLost, node, heartbeatMs = HEARTBEAT_MS }: OwnerOptions,
): Promise<() => Promise<void>> {
  await inTransaction(db, async (tx) => {
    await removeOwners(tx, isAlone ? sql<SqlBool>`true` : isDead(tx))
    await renewOwner(tx, node)
  })
  node.registered(db)

  let corrected = 0
  /** Renews the heartbeat, and follows the clock of a shared database. */
  async function renew(): Promise<void> {
    const ask = () => renewOwner(db, node)
    if (!db.isShared) return void (await ask())
    const seconds = Math.round((await followClock(ask)) / 1000)
    if (seconds === corrected) return
    corrected = seconds
    log.warn({ seconds }, 'the clock of this machine is wrong: using that of the database')
  }
  await renew()

  async function beat(): Promise<void> {
    try {
      await renew()
      await db.runMaintenance?.()
      const died = await removeOwners(db, isDead(db))
      if (died === 0) return
      log.warn({ died }, 'other servers on this database have died')
      onNodesLost()
    } catch (err) {
      log.warn({ err }, 'cannot write the heartbeat')
    }
  }

  let beating: Promise<void> | undefined
  const timer = setInterval(() => {
    // While the database does not respond, a stop waits for one heartbeat, not for all that are
    // due.
    beating ??= beat().finally(() => {
      beating = undefined
    })
  }, heartbeatMs).unref()
  return async () => {
    clearInterval(timer)
    await beating
    await removeOwners(db, sql<SqlBool>`id = ${db.owner}`)
  }
}

/**
 * Renews the heartbeat of this process, and returns its time by the clock of the database. An owner
 * that was considered dead, as after the machine slept, registers again.
 */
export async function renewOwner(db: Db, node: Pick<OwnerInfo, 'row'>): Promise<number> {
  const now = db.dialect.now()
  const { row } = node
  const { heartbeat_at } = await db.sql
    .insertInto('owners')
    .values({ id: db.owner, started_at: now, heartbeat_at: now, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ heartbeat_at: now, ...row }))
    .returning('heartbeat_at')
    .executeTakeFirstOrThrow()
  return heartbeat_at
}

/** The condition that an owner has not renewed its heartbeat in time. */
export function isDead({ dialect }: Pick<Db, 'dialect'>) {
  return sql<SqlBool>`heartbeat_at < ${dialect.now()} - ${OWNER_TIMEOUT_MS}`
}

async function removeOwners(db: Db, condition: ReturnType<typeof sql<SqlBool>>): Promise<number> {
  const { numDeletedRows } = await db.sql.deleteFrom('owners').where(condition).executeTakeFirst()
  return Number(numDeletedRows)
}

/** The live owners: their ids, and when the first of them started. */
export type OwnerSnapshot = { ids: string[]; since: number }

/** Returns the live owners, including this process. */
export async function findOwners(db: Db): Promise<OwnerSnapshot> {
  const rows = await db.sql.selectFrom('owners').select(['id', 'started_at']).execute()
  const started = rows.map(({ started_at }) => started_at)
  return { ids: rows.map(({ id }) => id), since: Math.min(...started) }
}

/** Returns whether this process is the only live owner. */
export async function isOnlyOwner(db: Db): Promise<boolean> {
  return (await findOwners(db)).ids.every((id) => id === db.owner)
}

/** The condition that no live owner holds the lease of a row, for `jobs` and `deliveries`. */
export const isAbandoned = sql<SqlBool>`(lease_owner is null
  or not exists (select 1 from owners where owners.id = lease_owner))`
