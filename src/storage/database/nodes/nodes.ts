import { hostname } from 'node:os'
import { type SqlBool, sql } from 'kysely'
import type { Role } from '../../../config/node.ts'
import type { Log } from '../../../observability/log.ts'
import { OutageLog } from '../../../observability/outage-log.ts'
import type { Db } from '../db.ts'
import { isDead, type RegisteredNode } from './register-node.ts'

/** The capacity and load of a node, counted in live sessions of continuous speech. */
export type NodeLoad = { capacity: number; load: number; sessions: number }

/** The state that a node reports to the others. */
export type NodeState = {
  roles: readonly Role[]
  version: string
  /** Whether it is stopping; then it gets no new work. */
  isDraining: boolean
  /** The id of its object store; see `findObjectStoreId`. */
  objects?: string
  /** Absent if the node runs no live sessions. */
  live?: NodeLoad
}

/** A process on this database, as its row describes it. */
export type Node = NodeState & {
  id: string
  host: string
  pid: number
  /** The address at which other nodes reach it; null while it does not listen. */
  url: string | null
  /** These are in milliseconds since 1970, by the clock of the database. */
  startedAt: number
  heartbeatAt: number
}

/** This process as a node; the other nodes read what it reports. */
export class OwnNode implements RegisteredNode {
  readonly #outages: OutageLog
  #db: Db | undefined
  #url: string | null = null
  #state: NodeState
  #written = ''

  constructor(state: NodeState, log: Log) {
    this.#state = state
    this.#outages = new OutageLog(log, {
      level: 'warn',
      failed: 'cannot report this node to others',
      recovered: 'reporting this node to others again',
    })
  }

  /** The columns of the row of this process, which each heartbeat writes, too. */
  get row(): RegisteredNode['row'] {
    return {
      host: hostname(),
      pid: process.pid,
      url: this.#url,
      state: JSON.stringify(this.#state),
    }
  }

  /** Called when the row exists; from now on, changes are written to it. */
  registered(db: Db): void {
    this.#db = db
    this.#written = JSON.stringify(this.row)
  }

  /** Writes changes. A failure is only logged, because the next heartbeat writes them, too. */
  async report({ url, ...state }: Partial<NodeState> & { url?: string }): Promise<void> {
    this.#state = { ...this.#state, ...state }
    this.#url = url ?? this.#url
    const { row } = this
    const text = JSON.stringify(row)
    if (!this.#db || text === this.#written) return
    try {
      await this.#db.sql.updateTable('owners').set(row).where('id', '=', this.#db.nodeId).execute()
      this.#written = text
      this.#outages.succeeded()
    } catch (err) {
      this.#outages.failed(err)
    }
  }
}

/** Returns all live nodes, oldest first. */
export async function listNodes(db: Pick<Db, 'sql' | 'dialect'>): Promise<Node[]> {
  const rows = await db.sql
    .selectFrom('owners')
    .selectAll()
    .where(sql<SqlBool>`not (${isDead(db)})`)
    .orderBy('started_at')
    .orderBy('id')
    .execute()
  return rows.map(({ id, host, pid, url, started_at, heartbeat_at, state }) => {
    const nodeFields = { id, host, pid, url, startedAt: started_at, heartbeatAt: heartbeat_at }
    return { ...unknownState, ...(JSON.parse(state) as Partial<NodeState>), ...nodeFields }
  })
}

/** The state of a node of an earlier version, which does not report one. */
const unknownState: NodeState = { roles: [], version: '', isDraining: false }
