import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import { captureLog } from '../../test/support/server/captured-log.ts'
import { checkNodeUrl } from './check-node-url.ts'

test('a node that does not answer at its own address is reported', async (t) => {
  let status = 200
  const server = createServer((_, response) => response.writeHead(status).end())
  t.after(() => server.close())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { log, lines } = captureLog()
  await checkNodeUrl(url, log)
  assert.equal(lines.length, 0)
  status = 502
  await checkNodeUrl(url, log)
  server.close()
  await checkNodeUrl(url, log)
  const messages = lines.map((line) => [line.msg, line.url])
  const reported = ['other nodes cannot forward live clients to this node', url]
  assert.deepEqual(messages, [reported, reported])
})
