import type { Db } from '../../../storage/database/db.ts'
import { listNodes, type Node, type NodeLoad } from '../../../storage/database/nodes/nodes.ts'
import { findLiveOwner } from '../../../storage/live/live-jobs.ts'

/** Another node that runs a session, or can run it. */
export type PeerNode = { nodeId: string; url: string }

/** The node to which the client of a session has to connect. */
export type SessionNode = PeerNode & { jobId: string }

/**
 * Options for choosing a node: the id of this node, and those of nodes that could not be reached.
 */
export type PlacementOptions = { self: string; avoid?: readonly string[] | undefined }

/** Returns the node that runs a session, if clients can be forwarded to it. */
export function findOwningNode(
  nodes: readonly Node[],
  owner: string | undefined,
  choice: PlacementOptions,
): PeerNode | undefined {
  const node = reachable(nodes, choice).find(({ id }) => id === owner)
  return node && { nodeId: node.id, url: node.url }
}

/** Returns the other node that runs a session now, if one does and can be reached. */
export async function findNodeOfSession(db: Db, jobId: string): Promise<PeerNode | undefined> {
  if (!db.isShared) return undefined
  const [nodes, owner] = await Promise.all([listNodes(db), findLiveOwner(db, jobId)])
  return findOwningNode(nodes, owner, { self: db.nodeId })
}

/** Returns the node with the most free capacity; undefined if none has enough for a session. */
export function findFreeNode(
  nodes: readonly Node[],
  choice: PlacementOptions,
): PeerNode | undefined {
  const free = reachable(nodes, choice)
    .map((node) => ({ node, free: freeSessions(node.live) }))
    .filter(({ free }) => free >= 1)
  if (free.length === 0) return undefined
  const { node } = free.reduce((best, candidate) => (candidate.free > best.free ? candidate : best))
  return { nodeId: node.id, url: node.url }
}

function freeSessions(live: NodeLoad | undefined): number {
  return live ? live.capacity - live.load : 0
}

/** Returns the other nodes that can be reached and run live sessions. */
function reachable(
  nodes: readonly Node[],
  { self, avoid = [] }: PlacementOptions,
): (Node & { url: string })[] {
  const isReachable = (node: Node): node is Node & { url: string } => {
    return node.url !== null && node.live !== undefined && !node.isDraining
  }
  return nodes.filter(isReachable).filter(({ id }) => id !== self && !avoid.includes(id))
}
