import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Server } from 'node:http'
import { test } from 'node:test'
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
