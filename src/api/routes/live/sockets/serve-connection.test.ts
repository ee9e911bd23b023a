import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { type TestContext, test } from 'node:test'
import type { WebSocket } from 'ws'
import { FrameScheduler } from '../../../../live/input/frame-scheduler.ts'
import { type SocketConnection, serveConnection } from './serve-connection.ts'

/** Serves a client that answers no ping; `pings` and `isCut` tell what the server did to it. */
function serveSilentClient(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
  const state = { pings: 0, isCut: false }
  const webSocket = {
    readyState: 1,
    OPEN: 1,
    on() {},
    ping() {
      state.pings++
    },
    terminate() {
      state.isCut = true
    },
  } as unknown as WebSocket
  async function* messages() {
    await new Promise(() => {})
  }
  const connection = { account: '', messages } as unknown as SocketConnection
  const socket = new PassThrough()
  const scheduler = new FrameScheduler()
  serveConnection({ webSocket, socket, connection, scheduler, maxFrameBytes: 1000 })
  return { state, receive: () => socket.emit('data', Buffer.alloc(1)) }
}

test('a client that sends nothing after a ping is disconnected', (t) => {
  const { state } = serveSilentClient(t)
  t.mock.timers.tick(20_000)
  assert.deepEqual(state, { pings: 1, isCut: false })
  t.mock.timers.tick(20_000)
  assert.equal(state.isCut, true)
})

test('a client whose answer waits behind audio on a slow uplink stays connected', (t) => {
  const { state, receive } = serveSilentClient(t)
  t.mock.timers.tick(20_000)
  for (let i = 0; i < 10; i++) {
    t.mock.timers.tick(10_000)
    receive()
  }
  assert.deepEqual(state, { pings: 1, isCut: false })
  t.mock.timers.tick(20_000)
  assert.equal(state.isCut, true)
})
