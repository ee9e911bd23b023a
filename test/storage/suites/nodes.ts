import assert from 'node:assert/strict'
import { createLog } from '../../../src/observability/log.ts'
import { listNodes, OwnNode } from '../../../src/storage/database/nodes/nodes.ts'
import { renewNode } from '../../../src/storage/database/nodes/register-node.ts'
import { createSuite } from './suite.ts'

/** What processes of one database know of each other. */
export const nodeTests = createSuite()
const { test } = nodeTests

const state = { roles: ['live' as const], version: '1.2.3', isDraining: false }

test("nodes list each other's reports until their heartbeat stops", async ({ db }) => {
  const other = { ...db, nodeId: 'other' }
  const node = new OwnNode(state, createLog('silent'))
  await renewNode(other, node)
  node.registered(other)
  const find = async () => (await listNodes(db)).find(({ id }) => id === 'other')
  assert.equal((await find())?.url, null)
  const live = { capacity: 4, load: 1.5, sessions: 2 }
  await node.report({ url: 'http://10.0.0.1:7070', live })
  const { startedAt, heartbeatAt, ...found } = (await find())!
  assert.ok(Math.abs(Date.now() - startedAt) < 60_000 && heartbeatAt >= startedAt)
  const { host, pid } = node.row
  assert.deepEqual(found, { id: 'other', host, pid, url: 'http://10.0.0.1:7070', ...state, live })
  assert.ok((await listNodes(db)).some(({ id }) => id === db.nodeId))

  await node.report({ isDraining: true })
  assert.equal((await find())?.isDraining, true)
  const late = db.sql.updateTable('owners').set({ heartbeat_at: 1 })
  await late.where('id', '=', 'other').execute()
  assert.equal(await find(), undefined)
  await renewNode(other, node)
  assert.equal((await find())?.isDraining, true)
})
