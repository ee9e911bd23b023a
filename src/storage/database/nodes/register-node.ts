import { type SqlBool, sql } from 'kysely'
import { followClock } from '../../../clock.ts'
import type { Log } from '../../../observability/log.ts'
import type { ActiveNodes } from '../../objects/object-store.ts'
import { type Db, inTransaction } from '../db.ts'

/** The interval of the heartbeats of a node. */
const HEARTBEAT_MS = 10_000
/** A node is considered dead after this time without a heartbeat; two heartbeats may fail. */
export const NODE_TIMEOUT_MS = 3 * HEARTBEAT_MS

/** This process as a node: the columns of its row in `owners`, which other nodes read. */
export type RegisteredNode = {
  readonly row: { host: string; pid: number; url: string | null; state: string }
  /** Called when the row of the node exists. */
  registered(db: Db): void
}

/** How a node registers, and how it treats dead nodes. */
export type RegisterNodeOptions = {
  log: Log
  /** Whether no other process can have the database open, so that all earlier nodes are dead. */
  isAlone: boolean
  /** Called when other nodes have died. */
  onNodesLost: () => void
  /** The data that this process shows other nodes. */
  node: RegisteredNode
  heartbeatMs?: number | undefined
}

/**
 * Registers this process as the node `db.nodeId`, and sends its heartbeats. The returned function
 * stops them and removes the node.
 */
export async function registerNode(
  db: Db,
  { log, isAlone, onNodesLost, node, heartbeatMs = HEARTBEAT_MS }: RegisterNodeOptions,
): Promise<() => Promise<void>> {
  await inTransaction(db, async (tx) => {
    await removeNodes(tx, isAlone ? sql<SqlBool>`true` : isDead(tx))
    await renewNode(tx, node)
  })
  node.registered(db)

  let reportedSeconds = 0
  /** Renews the heartbeat, and corrects the clock of this process by that of a shared database. */
  async function renew(): Promise<void> {
    const renewRow = () => renewNode(db, node)
    if (!db.isShared) return void (await renewRow())
    const seconds = Math.round((await followClock(renewRow)) / 1000)
    if (seconds === reportedSeconds) return
    reportedSeconds = seconds
    log.warn({ seconds }, 'the clock of this machine is wrong: using that of the database')
  }
  await renew()

  async function sendHeartbeat(): Promise<void> {
    try {
      await renew()
      await db.runMaintenance?.()
      const died = await removeNodes(db, isDead(db))
      if (died === 0) return
      log.warn({ died }, 'other servers on this database have died')
      onNodesLost()
    } catch (err) {
      log.warn({ err }, 'cannot write the heartbeat')
    }
  }

  let pendingHeartbeat: Promise<void> | undefined
  const timer = setInterval(() => {
    // While the database does not respond, the returned function waits for one heartbeat, not for
    // all that are due.
    pendingHeartbeat ??= sendHeartbeat().finally(() => {
      pendingHeartbeat = undefined
    })
  }, heartbeatMs).unref()
  return async () => {
    clearInterval(timer)
    await pendingHeartbeat
    await removeNodes(db, sql<SqlBool>`id = ${db.nodeId}`)
  }
}

/**
 * Renews the heartbeat of this process, and returns its time by the clock of the database. A node
 * that was considered dead, for example because its machine was asleep, registers again.
 */
export async function renewNode(db: Db, node: Pick<RegisteredNode, 'row'>): Promise<number> {
  const now = db.dialect.now()
  const { row } = node
  const { heartbeat_at } = await db.sql
    .insertInto('owners')
    .values({ id: db.nodeId, started_at: now, heartbeat_at: now, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ heartbeat_at: now, ...row }))
    .returning('heartbeat_at')
    .executeTakeFirstOrThrow()
  return heartbeat_at
}

/** The condition that a node has not renewed its heartbeat in time. */
export function isDead({ dialect }: Pick<Db, 'dialect'>) {
  return sql<SqlBool>`heartbeat_at < ${dialect.now()} - ${NODE_TIMEOUT_MS}`
}

async function removeNodes(db: Db, condition: ReturnType<typeof sql<SqlBool>>): Promise<number> {
  const { numDeletedRows } = await db.sql.deleteFrom('owners').where(condition).executeTakeFirst()
  return Number(numDeletedRows)
}

/**
 * Returns the registered nodes, including this process. A node that died counts until another one
 * has noticed it and removed its row.
 */
export async function findActiveNodes(db: Db): Promise<ActiveNodes> {
  const rows = await db.sql.selectFrom('owners').select(['id', 'started_at']).execute()
  const started = rows.map(({ started_at }) => started_at)
  return { ids: rows.map(({ id }) => id), since: Math.min(...started) }
}

/** Returns whether this process is the only registered node. */
export async function isOnlyNode(db: Db): Promise<boolean> {
  return (await findActiveNodes(db)).ids.every((id) => id === db.nodeId)
}

/** The condition that no registered node holds the lease of a row of `jobs` or `deliveries`. */
export const isAbandoned = sql<SqlBool>`(lease_owner is null
  or not exists (select 1 from owners where owners.id = lease_owner))`
