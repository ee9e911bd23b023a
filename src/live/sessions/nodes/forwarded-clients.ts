import type { Log } from '../../../observability/log.ts'
import type { Db } from '../../../storage/database/db.ts'
import { findLiveOwners } from '../../../storage/live/live-jobs.ts'

/**
 * A client of this node whose session another node runs. `cut` closes its connection, so that it
 * reconnects.
 */
export type ForwardedClient = { jobId: string; nodeId: string; cut(): void }

/**
 * How often the owners of sessions are looked up: a node that hangs keeps its sockets open, so that
 * its clients would not notice.
 */
const CHECK_MS = 2000

/** The clients that this node has forwarded to other nodes. */
export class ForwardedClients {
  readonly #db: Db
  readonly #log: Log
  readonly #clients = new Set<ForwardedClient>()
  #timer: NodeJS.Timeout | undefined

  constructor({ db, log }: { db: Db; log: Log }) {
    this.#db = db
    this.#log = log
  }

  /** Watches a client until the returned function is called. */
  add(client: ForwardedClient): () => void {
    this.#clients.add(client)
    this.#timer ??= setInterval(() => void this.check(), CHECK_MS).unref()
    return () => this.#remove(client)
  }

  /**
   * Disconnects the clients whose session has moved to another node: when they reconnect, they
   * reach that node.
   */
  async check(): Promise<void> {
    const clients = [...this.#clients]
    try {
      const owners = await findLiveOwners(
        this.#db,
        clients.map(({ jobId }) => jobId),
      )
      for (const client of clients) {
        const { jobId, nodeId } = client
        // A session without an owner has ended, and its node informs the client.
        if (!owners.has(jobId) || owners.get(jobId) === nodeId || !this.#clients.has(client))
          continue
        this.#log.info(
          { sessionId: jobId, nodeId },
          'a live session was handed over to another node',
        )
        this.#remove(client)
        client.cut()
      }
    } catch (err) {
      this.#log.warn({ err }, 'cannot look up the nodes of live sessions')
    }
  }

  /** Stops watching; the clients keep their connections. */
  clear(): void {
    for (const client of [...this.#clients]) this.#remove(client)
  }

  #remove(client: ForwardedClient): void {
    this.#clients.delete(client)
    if (this.#clients.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}
