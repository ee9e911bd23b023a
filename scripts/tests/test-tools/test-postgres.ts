import { spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  closeSync,
  existsSync,
  globSync,
  mkdtempSync,
  openSync,
} from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** Names the folder of the server that all tests of one run share. */
export const SHARED_FOLDER = 'STENO_TEST_POSTGRES'

const START_MS = 60_000

/** Durability costs seconds and is not what tests are about. */
const FAST = ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']
const SMALL = ['shared_buffers=64MB', 'max_connections=200', 'autovacuum=off']

/** How a test server differs from the usual one. */
export type TestPostgresOptions = {
  isDurable?: boolean
  settings?: readonly string[]
  /** The words before its command, such as those that run it in another network namespace. */
  command?: readonly string[]
  /** Ranges of addresses that may connect, besides the socket and loopback. */
  hosts?: readonly string[]
}

/** The user that the server runs as: it refuses to run as root. */
type User = { uid: number; gid: number } | undefined

/** Returns why no server can be started here; undefined if one can. */
export function whyNoPostgres(): string | undefined {
  if (!findBinaries()) return 'PostgreSQL 15 or later is not installed'
  if (process.getuid?.() !== 0 || findUser()) return undefined
  return 'there is no user postgres or nobody to run PostgreSQL as'
}

/** Creates the folder of a server, which the user of the server owns. */
export function makePostgresFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, 'steno-pg-'))
  const user = findUser()
  if (user) chownSync(folder, user.uid, user.gid)
  return folder
}

/**
 * Starts a server in a folder, unless another process has or is about to. It listens on a socket in
 * the folder only. Resolves when it answers.
 */
export async function startPostgres(
  folder: string,
  options: TestPostgresOptions = {},
): Promise<void> {
  const isFirst = takeLock(join(folder, 'starting'))
  if (isFirst) {
    makeData(folder, options)
    runPostgres(folder, options)
  }
  await untilReady(folder)
}

/** Ends the server of a folder, as a crash would, and starts another one on its data. */
export async function restartPostgres(
  folder: string,
  options: TestPostgresOptions = {},
): Promise<void> {
  const pid = await findPid(join(folder, 'data'))
  if (pid !== undefined) await endPostgres(pid)
  runPostgres(folder, options)
  await untilReady(folder)
}

function makeData(folder: string, { hosts = [] }: TestPostgresOptions): void {
  const user = findUser()
  const data = join(folder, 'data')
  const bin = findBinaries()!
  const options = ['-D', data, '-U', 'steno', '-A', 'trust', '-E', 'UTF8', '--no-sync']
  const locale = ['--locale=C', '--no-instructions']
  const made = spawnSync(join(bin, 'initdb'), [...options, ...locale], { ...user, cwd: folder })
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`)
  for (const range of hosts) {
    appendFileSync(join(data, 'pg_hba.conf'), `host all all ${range} trust\n`)
  }
}

function runPostgres(
  folder: string,
  { isDurable = false, settings = [], command = [] }: TestPostgresOptions,
): void {
  const user = findUser()
  const data = join(folder, 'data')
  const settingArguments = [...(isDurable ? [] : FAST), ...SMALL, ...settings].flatMap((one) => [
    '-c',
    one,
  ])
  const place = ['-D', data, '-k', folder, '-c', 'listen_addresses=']
  const log = openSync(join(folder, 'log'), 'a')
  const stdio = ['ignore', log, log] as const
  // A process that may run it in another network namespace is root until then.
  const drop = command.length > 0 && user ? dropRights(user) : []
  const [program, ...words] = [...command, ...drop, join(findBinaries()!, 'postgres')]
  const child = spawn(program!, [...words, ...place, ...settingArguments], {
    ...(command.length === 0 && user),
    cwd: folder,
    stdio: [...stdio],
    detached: true,
  })
  closeSync(log)
  child.unref()
}

function dropRights({ uid, gid }: { uid: number; gid: number }): string[] {
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--']
}

async function untilReady(folder: string): Promise<void> {
  const data = join(folder, 'data')
  const until = Date.now() + START_MS
  while (!(await isReady(data))) {
    if (Date.now() > until) throw new Error(`PostgreSQL did not start: ${await readLog(folder)}`)
    await delay(50)
  }
}

/** Ends the server of a folder, if one runs, and removes the folder. */
export async function removePostgres(folder: string): Promise<void> {
  const pid = await findPid(join(folder, 'data'))
  if (pid !== undefined) await endPostgres(pid)
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
}

/** Returns the address of a database of the server of a folder. */
export function postgresUrl(folder: string, database: string): string {
  return `postgres://steno@localhost/${database}?host=${encodeURIComponent(folder)}`
}

/** Returns the process id of the server of a data folder; undefined if none runs. */
async function findPid(data: string): Promise<number | undefined> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(text, 10)
  return Number.isNaN(pid) ? undefined : pid
}

async function endPostgres(pid: number): Promise<void> {
  const isThere = () => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  if (isThere()) process.kill(pid, 'SIGQUIT')
  for (let waited = 0; isThere() && waited < 10_000; waited += 20) await delay(20)
}

async function isReady(data: string): Promise<boolean> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  return text.trimEnd().endsWith('ready')
}

async function readLog(folder: string): Promise<string> {
  const text = await readFile(join(folder, 'log'), 'utf8').catch(() => '')
  return text.slice(-500)
}

function takeLock(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx'))
    return true
  } catch {
    return false
  }
}

/** Returns the folder of the server's programs, of the newest version that is installed. */
function findBinaries(): string | undefined {
  const installed = globSync('/usr/lib/postgresql/*/bin').sort(byVersion)
  const onPath = (process.env.PATH ?? '').split(delimiter)
  return [...installed, ...onPath].find((bin) => {
    return existsSync(join(bin, 'initdb')) && existsSync(join(bin, 'postgres'))
  })
}

function byVersion(a: string, b: string): number {
  const [first, second] = [a, b].map((path) => Number.parseInt(path.split('/')[4]!, 10))
  return second! - first!
}

let user: User | null = null

function findUser(): User {
  if (process.getuid?.() !== 0) return undefined
  if (user === null) user = lookUp('postgres') ?? lookUp('nobody')
  return user
}

function lookUp(name: string): User {
  const [uid, gid] = ['-u', '-g'].map((flag) => {
    return Number.parseInt(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout, 10)
  })
  return uid && gid ? { uid, gid } : undefined
}
