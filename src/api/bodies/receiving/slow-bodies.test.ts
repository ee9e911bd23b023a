import assert from 'node:assert/strict'
import test from 'node:test'
import { createBodyWatch } from './slow-bodies.ts'

/**
 * Returns the seconds until a body of `perSecond` bytes in each second is cut off; 4000 when it is
 * not.
 */
function secondsOf(
  perSecond: (second: number) => number,
  { isKnown = true, isFull = false } = {},
): number {
  const body = {
    complete: false,
    destroyed: false,
    readableLength: isFull ? 10 : 0,
    readableHighWaterMark: 10,
    socket: { bytesRead: 500, destroyed: false },
  }
  let isGivenUp = false
  const watch = createBodyWatch<typeof body>(() => {
    isGivenUp = true
  })
  watch.add(body, () => isKnown)
  for (let second = 1; second < 4000; second++) {
    body.socket.bytesRead += perSecond(second)
    watch.tick()
    if (isGivenUp) return second
  }
  return 4000
}

test('a body sent one byte at a time is aborted, sooner without a key', () => {
  assert.equal(
    secondsOf(() => 1),
    121,
  )
  assert.equal(
    secondsOf(() => 1, { isKnown: false }),
    11,
  )
})

test('a body that stalls after a fast start is aborted after the usual time', () => {
  assert.equal(
    secondsOf((second) => (second < 10 ? 1_000_000 : 0)),
    130,
  )
})

test('a slow upload, or one that pauses, is not aborted', () => {
  assert.equal(
    secondsOf(() => 2000),
    4000,
  )
  assert.equal(
    secondsOf((second) => (second % 100 < 60 ? 0 : 10_000)),
    4000,
  )
})

test('a body is not aborted while the server itself does not read it', () => {
  assert.equal(
    secondsOf(() => 0, { isFull: true }),
    4000,
  )
})

test('completed bodies and those of disconnected clients are no longer watched', () => {
  const given: unknown[] = []
  const watch = createBodyWatch((body) => given.push(body))
  const socket = { bytesRead: 0, destroyed: false }
  const body = { readableLength: 0, readableHighWaterMark: 9, socket }
  const bodies = [
    { ...body, complete: false, destroyed: false },
    { ...body, complete: false, destroyed: true },
  ]
  for (const one of bodies) watch.add(one as never, () => true)
  bodies[0]!.complete = true
  for (let second = 0; second < 1000; second++) watch.tick()
  assert.deepEqual(given, [])
})
