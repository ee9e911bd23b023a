import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { captureLog } from '../../test/support/server/captured-log.ts'
import { checkNodeUrl } from './check-node-url.ts'

test('a node that does not answer at its own address, or not alone, is reported', async (t) => {
  let status = 200
  let nodeIds = ['this']
  const server = createServer((_, response) => {
    nodeIds.push(nodeIds.shift()!)
    response.writeHead(status, { 'x-steno-node': nodeIds[0] }).end()
  })
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { log, lines } = captureLog()
  const check = () => checkNodeUrl(url, { nodeId: 'this', log })
  await check()
  assert.equal(lines.length, 0)
  status = 502
  await check()
  status = 200
  // A load balancer before several nodes.
  nodeIds = ['this', 'that']
  await check()
  server.close()
  await check()
  const messages = lines.map((line) => [line.msg, line.url])
  const reported = ['other nodes cannot forward live clients to this node', url]
  assert.deepEqual(messages, [reported, reported, reported])
})
