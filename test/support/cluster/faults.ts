import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster, ClusterNode } from './cluster.ts'
import type { Host } from './network.ts'

/**
 * What harms a cluster; resolves when all is as before, but for what the nodes have to catch up.
 */
export type Fault = (cluster: Cluster, node: ClusterNode) => Promise<void>

/** Longer than the lease of a session (10 s), so that others have taken what it ran. */
const LONG_MS = 13_000
/** Longer than a request to the object store is tried. */
const OBJECTS_MS = 8000

type Ends = (cluster: Cluster, node: ClusterNode) => [from: Host, to: Host]

function cut(ends: Ends, ms: number): Fault {
  return async (cluster, node) => {
    const [from, to] = ends(cluster, node)
    await cluster.network.cut(from, to)
    await delay(ms)
    await cluster.network.join(from, to)
  }
}

/** Every fault by what happens, in the order in which the long form makes them. */
export const faults: Readonly<Record<string, Fault>> = {
  'the database does not hear a node': cut(({ database }, { host }) => [host, database], LONG_MS),
  'a node does not hear the database': cut(({ database }, { host }) => [database, host], LONG_MS),
  'the object store does not hear a node': cut(
    ({ objects }, { host }) => [host, objects],
    OBJECTS_MS,
  ),
  'a node does not hear the object store': cut(
    ({ objects }, { host }) => [objects, host],
    OBJECTS_MS,
  ),
  'a node does not hear another': cut(({ nodes }, { host }) => {
    return [nodes.find((one) => one.host !== host)!.host, host]
  }, LONG_MS),
  'a node is killed': async ({ end, replace }, node) => {
    await end(node)
    await replace(node)
  },
  'a machine is lost': async ({ network, nodes, database, objects, end, replace }, node) => {
    const others = [database, objects, ...nodes.map(({ host }) => host)]
    const reached = others.filter((host) => host !== node.host)
    // Its connections are not closed, so the other nodes do not notice that it has ended.
    for (const host of reached) await network.cut(node.host, host)
    await end(node)
    await delay(LONG_MS)
    for (const host of reached) await network.join(node.host, host)
    await replace(node)
  },
  'a node stands still': async (_cluster, { server }) => {
    server.process.kill('SIGSTOP')
    await delay(LONG_MS)
    server.process.kill('SIGCONT')
  },
  'the database is slow': async ({ network, database }) => {
    await network.limit(database, 256)
    await delay(LONG_MS)
    await network.limit(database, undefined)
  },
  'the database crashes': async ({ database }) => database.restart(),
  // Its log may end it, so that it is started again once there is room.
  'the disk of the database is full': async ({ database }) => {
    const { free } = await database.fillDisk()
    await delay(LONG_MS)
    await free()
    await database.restart()
  },
  'the object store is overloaded': async ({ objects }) => {
    objects.disturb('overloaded')
    await delay(OBJECTS_MS)
    objects.disturb('none')
  },
}
