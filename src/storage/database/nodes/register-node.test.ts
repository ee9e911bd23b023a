import assert from 'node:assert/strict'
import test from 'node:test'
import { openTestStorage } from '../../../../test/support/storage/test-storage.ts'
import { createLog } from '../../../observability/log.ts'
import { OwnNode } from './nodes.ts'
import { registerNode } from './register-node.ts'

test('stopping waits for at most one heartbeat of a stalled database', async (t) => {
  const { db } = await openTestStorage(t)
  t.mock.timers.enable({ apis: ['setInterval'] })
  const log = createLog('silent')
  const begun = Promise.withResolvers<void>()
  const isBack = Promise.withResolvers<void>()
  let beats = 0
  async function runMaintenance(): Promise<void> {
    beats++
    begun.resolve()
    await isBack.promise
  }
  const node = new OwnNode({ roles: [], version: '', isDraining: false }, log)
  const options = { log, isAlone: true, onNodesLost() {}, node, heartbeatMs: 10 }
  const end = await registerNode({ ...db, runMaintenance }, options)
  t.mock.timers.tick(10)
  await begun.promise
  t.mock.timers.tick(50)
  const ended = end()
  isBack.resolve()
  await ended
  assert.equal(beats, 1)
})
