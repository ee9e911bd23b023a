import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { startServer } from '../../../../test/support/server/start-server.ts'
import { endSilentConnections } from './silent-connections.ts'

test('a silent connection ends; one whose bytes waited while the server stood still does not', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const server = new EventEmitter()
  endSilentConnections(server as unknown as Server)
  const newSocket = () => ({
    bytesRead: 100,
    bytesWritten: 0,
    isDestroyed: false,
    destroy() {
      this.isDestroyed = true
    },
  })
  const [silent, uploading] = [newSocket(), newSocket()]
  for (const socket of [silent, uploading]) server.emit('timeout', socket)
  assert.deepEqual([silent.isDestroyed, uploading.isDestroyed], [false, false])
  uploading.bytesRead = 200
  t.mock.timers.tick(5000)
  assert.deepEqual([silent.isDestroyed, uploading.isDestroyed], [true, false])
})

test('the server keeps a connection that has just timed out', async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const accepted = once(server.app.http.server, 'connection') as Promise<[Socket]>
  const client = connect(Number(new URL(server.url).port), '127.0.0.1')
  t.after(() => client.destroy())
  const [socket] = await accepted
  socket.emit('timeout')
  assert.equal(socket.destroyed, false)
  client.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n')
  const [response] = await once(client, 'data')
  assert.match(String(response), /^HTTP\/1.1 200/)
})
