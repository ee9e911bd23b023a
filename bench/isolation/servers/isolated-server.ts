import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type MemoryWatch, watchMemory } from '../process-tree.ts'

/** The setup of the machine that an attack needs. */
export type Surroundings = {
  /** Whether the server uses a DNS resolver that never responds. */
  silentResolver?: boolean
  /** The size of the disk of the data folder, in bytes. */
  diskBytes?: number
}

/** A server under measurement. */
export type IsolatedServer = {
  url: string
  memory: MemoryWatch
  /** Whether the setup was possible; it needs root and Linux. */
  isSurrounded: boolean
  /** How the process ended by itself; undefined while it runs. */
  readonly ended: string | undefined
  stop(): Promise<void>
}

export const ATTACKER_KEY = 'attacker-key-of-the-bench'
export const VICTIM_KEY = 'victim-key-of-the-bench'

/** Above this memory the process tree is killed, so that an attack cannot exhaust the machine. */
const MEMORY_GUARD_BYTES = 6e9

/** An address of the loopback network that no other run uses at the same time. */
const RESOLVER = `127.77.${process.pid % 250}.${1 + (Math.floor(process.pid / 250) % 250)}`

/**
 * Arguments: the resolver's file or '', the size of the disk or '', its folder; then the command.
 */
const SURROUND = `
[ -z "$1" ] || mount --bind "$1" /etc/resolv.conf || exit 90
[ -z "$2" ] || mount -t tmpfs -o "size=$2" none "$3" || exit 90
shift 3
exec "$@"`

/**
 * Starts a server with the accounts `attacker` and `victim` and default limits, on a new folder.
 */
export async function startIsolated({
  isFake,
  surroundings = {},
  env = {},
}: {
  isFake: boolean
  surroundings?: Surroundings
  env?: Record<string, string>
}): Promise<IsolatedServer> {
  const folder = await temporaryFolder()
  const resolver = surroundings.silentResolver ? await openSilentResolver() : undefined
  const isSurrounded = canSurround()
  const command = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    join(import.meta.dirname, 'server-process.ts'),
  ]
  const around = await surround(folder, surroundings)
  const [program, ...args] = isSurrounded && around ? [...around, ...command] : command
  const child = spawn(program!, args, {
    env: { ...process.env, ...settings(folder, isFake), ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const memory = watchMemory(child.pid!, MEMORY_GUARD_BYTES)
  let ended: string | undefined
  child.once('exit', (code, signal) => {
    ended = String(signal ?? code)
  })
  const url = await addressOf(child)
  return {
    url,
    memory,
    isSurrounded: isSurrounded || !around,
    get ended() {
      return ended
    },
    async stop() {
      const gone = ended === undefined ? once(child, 'exit') : undefined
      memory.end()
      await gone
      resolver?.close()
      await rm(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

function settings(folder: string, isFake: boolean): Record<string, string> {
  return {
    STENO_DATA_DIR: join(folder, 'data'),
    STENO_API_KEYS: `attacker:${ATTACKER_KEY},victim:${VICTIM_KEY}`,
    STENO_ALLOW_PRIVATE_NETWORK: '127.0.0.1,::1,localhost',
    // The fake engine knows no capacity.
    ...(isFake && { ISOLATION_FAKE: '1', STENO_LIVE_SLOTS: '8' }),
  }
}

async function addressOf(child: ChildProcess): Promise<string> {
  const exited = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the server ended with ${signal ?? code} before it listened`)
  })
  const [{ url }] = (await Promise.race([once(child, 'message'), exited])) as [{ url: string }]
  exited.catch(() => {})
  return url
}

/** Returns the command that runs another one in the setup; undefined when no setup is needed. */
async function surround(
  folder: string,
  { silentResolver, diskBytes }: Surroundings,
): Promise<string[] | undefined> {
  if (!silentResolver && !diskBytes) return undefined
  const file = join(folder, 'resolv.conf')
  await writeFile(file, `nameserver ${RESOLVER}\n`)
  const disk = join(folder, '..')
  const size = diskBytes ? String(diskBytes) : ''
  const data = diskBytes ? folder : disk
  return ['unshare', '-m', 'sh', '-c', SURROUND, 'sh', silentResolver ? file : '', size, data]
}

function canSurround(): boolean {
  return spawnSync('unshare', ['-m', 'true']).status === 0
}

/** Opens a DNS resolver that never responds; undefined without the permission for its port. */
async function openSilentResolver(): Promise<{ close(): void } | undefined> {
  const socket = createSocket('udp4')
  socket.bind(53, RESOLVER)
  const opened = await once(socket, 'listening').then(
    () => true,
    () => false,
  )
  return opened ? socket : undefined
}
