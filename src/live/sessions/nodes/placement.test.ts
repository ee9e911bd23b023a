import assert from 'node:assert/strict'
import test from 'node:test'
import type { Node, NodeLoad } from '../../../storage/database/nodes/nodes.ts'
import { findFreeNode, findOwningNode } from './placement.ts'

/** Returns a node that runs live sessions. */
function nodeOf(id: string, load: Partial<NodeLoad>, change: Partial<Node> = {}): Node {
  const live = { capacity: 4, load: 0, sessions: 0, ...load }
  const process = { host: 'host', pid: 1, startedAt: 0, heartbeatAt: 0 }
  const url = `http://${id}:7070`
  const state = { roles: ['live' as const], version: '', isDraining: false }
  return { id, ...process, url, ...state, live, ...change }
}

const nodes = [
  nodeOf('self', {}),
  nodeOf('busy', { load: 3.5 }),
  nodeOf('free', { load: 1 }),
  nodeOf('freer', { capacity: 8, load: 4 }),
  nodeOf('stops', {}, { isDraining: true }),
  nodeOf('silent', {}, { url: null }),
  nodeOf('api', {}, { live: undefined as never }),
]

test('a client is sent to the node of its session if that accepts clients', () => {
  const find = (owner: string | undefined, avoid?: string[]) => {
    return findOwningNode(nodes, owner, { self: 'self', avoid })
  }
  assert.deepEqual(find('busy'), { nodeId: 'busy', url: 'http://busy:7070' })
  assert.equal(find('busy', ['busy']), undefined)
  for (const owner of ['self', 'stops', 'silent', 'api', 'gone', undefined])
    assert.equal(find(owner), undefined, owner)
})

test('a new session is placed on the node with the most free capacity', () => {
  const find = (avoid?: string[]) => findFreeNode(nodes, { self: 'self', avoid })?.nodeId
  assert.equal(find(), 'freer')
  assert.equal(find(['freer']), 'free')
  assert.equal(find(['freer', 'free']), undefined, 'half a session is not enough')
})
