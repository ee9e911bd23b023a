import { execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import {
  makePostgresFolder,
  postgresUrl,
  removePostgres,
  restartPostgres,
  startPostgres,
} from '../../../scripts/tests/test-tools/test-postgres.ts'
import { startS3, TEST_CREDENTIALS } from '../../../scripts/tests/test-tools/test-s3.ts'
import { openPostgres } from '../../../src/storage/database/postgres/postgres.ts'
import { WEBHOOK_PATH } from '../delivery/expected-sequences.ts'
import { openUnreliable, type UnreliableReceiver } from '../delivery/unreliable-receiver.ts'
import { type Balancer, startBalancer } from '../net/tcp-balancer.ts'
import { type ChildServer, kill, startChild } from '../server/child-server.ts'
import { noPostgres, testSettings } from '../storage/databases/test-postgres.ts'
import { fillDisk } from '../storage/fill-disk.ts'
import type { S3Fault } from '../storage/objects/faulty-s3.ts'
import { noS3 } from '../storage/objects/test-s3.ts'
import { makeFolder } from '../storage/test-storage.ts'
import { type Host, makeNetwork, type Network, noNetwork } from './network.ts'

/** Why clusters cannot be started here; `false` if they can. */
export const noCluster = noNetwork || noPostgres || noS3

/** A node, which keeps its machine when its process is replaced. */
export type ClusterNode = { host: Host; server: ChildServer }

/** Nodes on one database and one bucket, behind a load balancer; each of them is a machine. */
export type Cluster = {
  network: Network
  nodes: ClusterNode[]
  balancer: Balancer
  /** The server as clients see it, whichever node answers. */
  server: { url: string; key: string }
  receiver: UnreliableReceiver
  database: Host & {
    url: string
    /** Ends it as a crash would, waits, and starts it again. */
    restart(): Promise<void>
    /** Takes all that is free on its disk; what is returned gives it back. */
    fillDisk(): Promise<{ free(): Promise<void> }>
  }
  objects: Host & { disturb(fault: S3Fault, share?: number): void }
  /** Kills the server of a node. */
  end(node: ClusterNode): Promise<void>
  /** Starts a server on the machine of a node, whose folder it finds as it was left. */
  replace(node: ClusterNode): Promise<void>
}

export type ClusterOptions = {
  random: () => number
  /** Settings of the n-th node only. */
  envs?: readonly Record<string, string>[]
}

const NODES = 3
const PORT = '7070'
/** The disk of the database: its log alone may take most of it. */
const DISK_BYTES = 400e6
const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`

/** Starts all machines; they end with the test. */
export async function startCluster(
  test: Pick<TestContext, 'after'>,
  { random, envs = [] }: ClusterOptions,
): Promise<Cluster> {
  // What was started last ends first.
  const stack = new AsyncDisposableStack()
  test.after(() => stack.disposeAsync())
  const t: Pick<TestContext, 'after'> = { after: (end) => void stack.defer(end as () => void) }
  const network = await makeNetwork(t)
  const database = await startDatabase(t, network)
  const objects = await startObjects(t, network)
  const receiver = await openUnreliable({ secret: SECRET, random, host: network.home })
  t.after(() => receiver.close())
  const balancer = await startBalancer(t)
  const env = {
    ...TEST_CREDENTIALS,
    STENO_PORT: PORT,
    STENO_DATABASE_URL: database.url,
    STENO_OBJECT_STORE: objects.url,
    STENO_PUBLIC_WS_BASE_URL: balancer.url.replace('http', 'ws'),
    STENO_ALLOW_PRIVATE_NETWORK: 'true',
    STENO_WEBHOOKS: `test=${receiver.url}${WEBHOOK_PATH}`,
    STENO_WEBHOOK_SECRETS: `test:${SECRET}`,
    STENO_WORKERS: '2',
    STENO_MAX_LIVE_SESSIONS: '1000',
    STENO_LIVE_SLOTS: '100',
    STENO_LOG_LEVEL: process.env.STENO_TEST_LOG_LEVEL ?? 'fatal',
    FAKE_BATCH_MS: '300',
    FAKE_RETRY_MS: '300',
  }
  const places = await Promise.all(
    Array.from({ length: NODES }, async (_, i) => ({
      host: await network.addHost(`node${i + 1}`),
      folder: await makeFolder(t),
      env: envs[i] ?? {},
    })),
  )
  const start = async ({ host, folder, env: nodeEnv }: (typeof places)[number]) => {
    const { address, command } = host
    const settings = { ...env, STENO_HOST: address, ...nodeEnv }
    return (await startChild(t, folder, { env: settings, command }))!
  }
  const servers = await Promise.all(places.map(start))
  const nodes = places.map(({ host }, i) => ({ host, server: servers[i]! }))
  const setTargets = (all: readonly ClusterNode[]) => {
    balancer.setTargets(all.map((node) => node.server.url))
  }
  setTargets(nodes)
  const server = { url: balancer.url, key: servers[0]!.key }
  const replace = async (node: ClusterNode) => {
    node.server = await start(places[nodes.indexOf(node)]!)
    setTargets(nodes)
  }
  const end = async (node: ClusterNode) => {
    await kill(node.server)
    setTargets(nodes.filter((one) => one !== node))
  }
  t.after(async () => {
    for (const node of nodes) {
      node.server.process.kill('SIGCONT')
      await kill(node.server)
    }
  })
  return { network, nodes, balancer, server, receiver, database, objects, end, replace }
}

async function startDatabase(
  t: Pick<TestContext, 'after'>,
  network: Network,
): Promise<Cluster['database']> {
  const host = await network.addHost('database')
  const disk = await makeDisk(t)
  const folder = makePostgresFolder(disk)
  t.after(() => removePostgres(folder))
  const options = {
    // What was committed stays when its processes die.
    settings: ['listen_addresses=*', 'synchronous_commit=on', 'autovacuum=on'],
    command: host.command,
    hosts: [`${network.home}/24`],
  }
  await startPostgres(folder, options)
  const settings = { ...testSettings, url: postgresUrl(folder, 'postgres') }
  const admin = await openPostgres(settings, { version: 'known' })
  await sql`create database cluster`.execute(admin.sql)
  await admin.close()
  return {
    ...host,
    url: `postgres://steno@${host.address}/cluster`,
    restart: () => restartPostgres(folder, options),
    fillDisk: () => fillDisk(disk),
  }
}

/** Mounts a small disk, for the time of a test. */
async function makeDisk(t: Pick<TestContext, 'after'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-disk-'))
  t.after(() => rmdir(folder))
  // Its server runs as another user.
  const options = `size=${DISK_BYTES},mode=755`
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder])
  t.after(() => execFileSync('umount', [folder]))
  return folder
}

async function startObjects(
  t: Pick<TestContext, 'after'>,
  network: Network,
): Promise<Cluster['objects'] & { url: string }> {
  const host = await network.addHost('objects')
  const { address, command } = host
  const gateway = await startS3({ host: address, command })
  t.after(() => gateway.end())
  const [execPath, ...words] = [...command, process.execPath]
  const flags = ['--disable-warning=ExperimentalWarning']
  const script = join(import.meta.dirname, 'faulty-s3-process.ts')
  const proxy = fork(script, [address, gateway.endpoint], {
    execPath: execPath!,
    execArgv: [...words, ...flags],
  })
  t.after(async () => {
    const ended = once(proxy, 'exit')
    proxy.kill('SIGKILL')
    await ended
  })
  const [{ endpoint }] = (await once(proxy, 'message')) as [{ endpoint: string }]
  return {
    ...host,
    url: `s3://test/cluster?endpoint=${encodeURIComponent(endpoint)}`,
    disturb: (fault, share = 1) => void proxy.send({ fault, share }),
  }
}
