import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pairSockets } from '../../net/pair-sockets.ts'

/** A proxy before PostgreSQL that loses its connections, as when the server process is killed. */
export type CutPostgres = {
  /** The address of the same database through the proxy. */
  readonly url: string
  /**
   * Ends all connections once the server has executed `statements` statements, counted from the
   * `begin` of a transaction, and before it can answer; new connections are ended at once.
   */
  cutAfter(statements: number): void
  /** Delivers no answer from now on, as when the machine of the server loses its network. */
  stall(): void
  /** Whether the connections were ended. */
  readonly isCut: boolean
  close(): Promise<void>
}

const SOCKET = '.s.PGSQL.5432'
/** The message types of a statement: a query, or the end of one with parameters. */
const QUERY = 0x51
const SYNC = 0x53

/** Opens a proxy to the database of `url`, which names the folder of a Unix socket. */
export async function openCutPostgres(url: string): Promise<CutPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-cut-'))
  const upstream = join(new URL(url).searchParams.get('host')!, SOCKET)
  const sockets = new Set<Socket>()
  let left = Number.POSITIVE_INFINITY
  let isCut = false
  let isStalled = false

  function cut(): void {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }

  const proxy = createServer((client) => {
    if (isCut) return client.destroy()
    const server = new Socket().connect(upstream)
    const isStatement = createCounter()
    let isLast = false
    pairSockets(client, server, sockets)
    client.on('data', (bytes: Buffer) => {
      left -= isStatement(bytes)
      isLast = left <= 0
      server.write(bytes)
    })
    server.on('data', (bytes: Buffer) => {
      if (isStalled) return
      if (isLast) cut()
      else client.write(bytes)
    })
  }).listen(join(folder, SOCKET))
  await once(proxy, 'listening')
  const through = new URL(url)
  through.searchParams.set('host', folder)

  return {
    url: through.href,
    cutAfter(statements) {
      left = statements
      isCut = false
    },
    stall() {
      isStalled = true
    },
    get isCut() {
      return isCut
    },
    async close() {
      cut()
      proxy.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Returns a function that counts the statements in what a client sends, from `begin` on. */
function createCounter(): (bytes: Buffer) => number {
  let kept = Buffer.alloc(0)
  let isStarted = false
  let hasBegun = false
  return (bytes) => {
    kept = Buffer.concat([kept, bytes])
    let statements = 0
    for (;;) {
      // Only the first message has no type.
      const from = isStarted ? 1 : 0
      if (kept.length < from + 4) return statements
      const end = from + kept.readUInt32BE(from)
      if (kept.length < end) return statements
      const [type] = kept
      hasBegun ||= isStarted && kept.subarray(0, end).includes('begin')
      if (isStarted && hasBegun && (type === QUERY || type === SYNC)) statements++
      isStarted = true
      kept = kept.subarray(end)
    }
  }
}
