import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { createServer, Socket } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { databaseFile } from '../src/storage/data-folder/data-folder.ts'
import type { UnreliableReceiver } from '../test/support/delivery/unreliable-receiver.ts'
import { pairSockets } from '../test/support/net/pair-sockets.ts'
import type { SoakedServer } from './soaked-server.ts'

/** The target of a fault. */
export type FaultTarget = {
  server: SoakedServer
  receivers: readonly UnreliableReceiver[]
  /** Makes the database slow for `ms` milliseconds. */
  slowDatabase(ms: number): Promise<void>
  /** Fills the disk for `ms` milliseconds; undefined where the disk is shared. */
  fillDisk: ((ms: number) => Promise<void>) | undefined
  random: () => number
  /** Causes this one in each round, instead of one at random. */
  only?: Fault | undefined
}

/** The faults; most rounds have no kill, so that the memory of one process can be observed. */
const faults = [
  ...['none', 'none', 'away', 'stall', 'pause', 'slow database', 'full disk'],
  ...['none', 'away', 'stop', 'kill'],
] as const
/** A fault of a round. */
export type Fault = (typeof faults)[number]

/** Returns whether `name` is a fault. */
export function isFault(name: string): name is Fault {
  return (faults as readonly string[]).includes(name)
}

/** Rounds with these faults must keep the latency limits: they affect receivers only. */
export const HARMLESS: ReadonlySet<Fault> = new Set(['none', 'away', 'stall'])
/** During these faults, valid requests may fail. */
export const REFUSING: ReadonlySet<Fault> = new Set(['slow database', 'full disk'])

const TIMES = 3
const MAX_MS = 6000
/** The longest lock: SQLite waits five seconds for a lock, and clients time out. */
const MAX_SLOW_MS = 3000

/**
 * Returns a function that chooses the fault of each round: first none, then each that this machine
 * allows in random order, then any at random.
 */
export function createFaultChoice({
  random,
  fillDisk,
  only,
}: Pick<FaultTarget, 'random' | 'fillDisk' | 'only'>): () => Fault {
  const isAllowed = (fault: Fault) => fault !== 'full disk' || fillDisk !== undefined
  const allowed = faults.filter(isAllowed)
  const harmful = new Set(allowed.filter((fault) => fault !== 'none'))
  const order = [...harmful].map((fault) => ({ fault, at: random() })).sort((a, b) => a.at - b.at)
  const first: Fault[] = ['none', ...order.map(({ fault }) => fault)]
  return () => only ?? first.shift() ?? allowed[Math.floor(random() * allowed.length)]!
}

/** Causes a fault several times within `ms` milliseconds. */
export async function causeFaults(
  fault: Fault,
  target: FaultTarget,
  { ms, signal }: { ms: number; signal: AbortSignal },
): Promise<void> {
  if (fault === 'none') return
  for (let times = 0; !signal.aborted && times < TIMES; times++) {
    await delay((ms / TIMES) * target.random(), undefined, { signal }).catch(() => {})
    if (signal.aborted) return
    await cause(fault, target)
    await target.server.ensureRunning()
  }
}

async function cause(fault: Fault, target: FaultTarget): Promise<void> {
  const { server, receivers, random } = target
  if (fault === 'away') {
    for (const receiver of receivers) receiver.leave(Math.ceil(20 * random()))
  } else if (fault === 'stall') {
    for (const receiver of receivers) receiver.stall(MAX_MS * random())
  } else if (fault === 'slow database') await target.slowDatabase(MAX_SLOW_MS * random())
  else if (fault === 'full disk') await target.fillDisk?.(MAX_SLOW_MS * random())
  else if (fault === 'pause') await server.pause(MAX_MS * random())
  else if (fault === 'kill') await server.kill()
  else await server.stop()
}

/** Locks SQLite for writing, so that all writers wait. */
export async function lockSqlite(folder: string, ms: number): Promise<void> {
  const database = new DatabaseSync(databaseFile(folder))
  database.exec('pragma busy_timeout = 5000')
  try {
    database.exec('begin immediate')
    await delay(ms)
    database.exec('rollback')
  } finally {
    database.close()
  }
}

const LARGE = 256 * 1024

/** Fills the disk of a folder for `ms` milliseconds. */
export async function fillFolder(folder: string, ms: number): Promise<void> {
  const path = join(folder, 'ballast')
  try {
    for (let size = LARGE; size >= 1; size = Math.floor(size / 2)) {
      for (let isFull = false; !isFull; ) {
        isFull = await writeFile(path, Buffer.alloc(size), { flag: 'a' }).then(
          () => false,
          () => true,
        )
      }
    }
    await delay(ms)
  } finally {
    await rm(path, { force: true })
  }
}

const SOCKET = '.s.PGSQL.5432'
/** The additional delay of each message while the database is slow. */
const SLOW_MS = 100

/** A proxy to PostgreSQL that can be slow. */
export type SlowPostgres = { url: string; slow(ms: number): Promise<void>; close(): Promise<void> }

/** Opens a proxy to the database of `url` through a socket in a folder. */
export async function openSlowPostgres(url: string, folder: string): Promise<SlowPostgres> {
  const upstream = join(new URL(url).searchParams.get('host')!, SOCKET)
  const sockets = new Set<Socket>()
  let pauseMs = 0
  const proxy = createServer((client) => {
    const server = new Socket().connect(upstream)
    // Later messages wait for slow messages, so the order stays.
    let last = Promise.resolve()
    client.on('data', (bytes) => {
      last = last
        .then(() => (pauseMs > 0 ? delay(pauseMs) : undefined))
        .then(() => {
          server.write(bytes)
        })
    })
    server.pipe(client)
    pairSockets(client, server, sockets)
  }).listen(join(folder, SOCKET))
  await once(proxy, 'listening')
  const through = new URL(url)
  through.searchParams.set('host', folder)
  return {
    url: through.href,
    async slow(ms) {
      pauseMs = SLOW_MS
      await delay(ms)
      pauseMs = 0
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}
