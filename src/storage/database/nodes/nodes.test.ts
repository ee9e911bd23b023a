import assert from 'node:assert/strict'
import test from 'node:test'
import { captureLog } from '../../../../test/support/server/captured-log.ts'
import { openTestStorage } from '../../../../test/support/storage/test-storage.ts'
import { OwnNode } from './nodes.ts'

test('changes that cannot be reported to other nodes are logged once per outage', async (t) => {
  const { db } = await openTestStorage(t)
  const { log, lines } = captureLog()
  const node = new OwnNode({ roles: [], version: '', isDraining: false }, log)
  node.registered(db)
  const update = t.mock.method(db.sql, 'updateTable', () => {
    throw new Error('the database is away')
  })
  for (let sessions = 0; sessions < 3; sessions++)
    await node.report({ live: { capacity: 3, load: sessions, sessions } })
  update.mock.restore()
  await node.report({ isDraining: true })
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['cannot report this node to others', 'reporting this node to others again'],
  )
})
