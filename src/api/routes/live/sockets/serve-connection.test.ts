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
  return {
    state,
    receive: () => socket.emit('data', Buffer.alloc(1)),
    run(seconds: number) {
      for (let second = 0; second < seconds; second++) t.mock.timers.tick(1000)
    },
    /** All timers that are due fire at once, before anything is read. */
    standStill: (seconds: number) => t.mock.timers.tick(seconds * 1000),
  }
}

test('a client that sends nothing after a ping is disconnected', (t) => {
  const { state, run } = serveSilentClient(t)
  run(20)
  assert.deepEqual(state, { pings: 1, isCut: false })
  run(20)
  assert.equal(state.isCut, true)
})

test('a client whose answer waits behind audio on a slow uplink stays connected', (t) => {
  const { state, receive, run } = serveSilentClient(t)
  run(20)
  for (let i = 0; i < 10; i++) {
    run(10)
    receive()
  }
  assert.deepEqual(state, { pings: 1, isCut: false })
  run(20)
  assert.equal(state.isCut, true)
})

test('a client stays connected after the server stood still, if it sent something meanwhile', (t) => {
  const { state, receive, run, standStill } = serveSilentClient(t)
  run(20)
  standStill(60)
  assert.equal(state.isCut, false)
  receive()
  run(19)
  assert.equal(state.isCut, false)
  standStill(60)
  run(20)
  assert.equal(state.isCut, true)
})
