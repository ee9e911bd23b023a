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

/** What a fault happens to. */
export type FaultPlace = {
  server: SoakedServer
  receivers: readonly UnreliableReceiver[]
  /** Makes the database slow for so many milliseconds. */
  slowDatabase(ms: number): Promise<void>
  /**
   * Takes the last byte of the disk for so many milliseconds; undefined where the disk is shared.
   */
  fillDisk: ((ms: number) => Promise<void>) | undefined
  random: () => number
  /** Causes this one in each round, instead of one at random. */
  only?: Fault | undefined
}

/** Most rounds are without a kill, so that memory is seen to stay flat in one process. */
const faults = [
  ...['none', 'none', 'away', 'stall', 'pause', 'slow database', 'full disk'],
  ...['none', 'away', 'stop', 'kill'],
] as const
/** What disturbs a round. */
export type Fault = (typeof faults)[number]

/** Whether a round may be disturbed so. */
export function isFault(name: string): name is Fault {
  return (faults as readonly string[]).includes(name)
}

/** Rounds with these faults hold the bars of latency: they concern receivers only. */
export const HARMLESS: ReadonlySet<Fault> = new Set(['none', 'away', 'stall'])
/** During these, requests may fail that were right. */
export const REFUSING: ReadonlySet<Fault> = new Set(['slow database', 'full disk'])

const TIMES = 3
const MAX_MS = 6000
/** SQLite waits five seconds for a lock, and a client gives a request up at some time. */
const MAX_SLOW_MS = 3000

/**
 * Returns what chooses the fault of each round: none first, then each that this machine allows,
 * in a random order, and then any at random.
 */
export function createFaultChoice({
  random,
  fillDisk,
  only,
}: Pick<FaultPlace, 'random' | 'fillDisk' | 'only'>): () => Fault {
  const isAllowed = (fault: Fault) => fault !== 'full disk' || fillDisk !== undefined
  const allowed = faults.filter(isAllowed)
  const harmful = new Set(allowed.filter((fault) => fault !== 'none'))
  const order = [...harmful].map((fault) => ({ fault, at: random() })).sort((a, b) => a.at - b.at)
  const first: Fault[] = ['none', ...order.map(({ fault }) => fault)]
  return () => only ?? first.shift() ?? allowed[Math.floor(random() * allowed.length)]!
}

/** Causes a fault some times within so many milliseconds. */
export async function causeFaults(
  fault: Fault,
  place: FaultPlace,
  { ms, over }: { ms: number; over: AbortSignal },
): Promise<void> {
  if (fault === 'none') return
  for (let times = 0; !over.aborted && times < TIMES; times++) {
    await delay((ms / TIMES) * place.random(), undefined, { signal: over }).catch(() => {})
    if (over.aborted) return
    await cause(fault, place)
    await place.server.running()
  }
}

async function cause(fault: Fault, place: FaultPlace): Promise<void> {
  const { server, receivers, random } = place
  if (fault === 'away') {
    for (const receiver of receivers) receiver.leave(Math.ceil(20 * random()))
  } else if (fault === 'stall') {
    for (const receiver of receivers) receiver.stall(MAX_MS * random())
  } else if (fault === 'slow database') await place.slowDatabase(MAX_SLOW_MS * random())
  else if (fault === 'full disk') await place.fillDisk?.(MAX_SLOW_MS * random())
  else if (fault === 'pause') await server.pause(MAX_MS * random())
  else if (fault === 'kill') await server.kill()
  else await server.stop()
}

/** Takes the right to write to SQLite, so that all writers wait. */
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

/** Takes every byte of the disk that a folder lies on, and gives them back. */
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
/** What each message takes longer while the database is slow. */
const SLOW_MS = 100

/** A way to PostgreSQL that is slow at times. */
export type SlowPostgres = { url: string; slow(ms: number): Promise<void>; close(): Promise<void> }

/** Opens a way to the database of `url` through a socket in a folder. */
export async function openSlowPostgres(url: string, folder: string): Promise<SlowPostgres> {
  const upstream = join(new URL(url).searchParams.get('host')!, SOCKET)
  const sockets = new Set<Socket>()
  let pauseMs = 0
  const proxy = createServer((client) => {
    const server = new Socket().connect(upstream)
    // Once slow messages are under way, none overtakes them.
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
