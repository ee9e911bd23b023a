import assert from 'node:assert/strict'
import test from 'node:test'
import type { SocketFrame } from './frame-queue.ts'
import { FrameScheduler } from './frame-scheduler.ts'

const FRAMES_PER_TURN = 64
const AT_ONCE = 3000
const PER_SECOND = 800

/** Creates a scheduler whose event loop and clock the test controls. */
function openTurns() {
  let now = 0
  let turn: (() => void) | undefined
  const timers: { at: number; run: () => void }[] = []
  const scheduler = new FrameScheduler({
    now: () => now,
    turn: (run) => {
      turn = run
    },
    later: (run, ms) => void timers.push({ at: now + ms, run }),
  })
  /** Runs one turn of the loop; false when there was nothing to do. */
  function goOn(): boolean {
    const run = turn
    turn = undefined
    run?.()
    return run !== undefined
  }
  function pass(ms: number): void {
    for (const end = now + ms; now < end; now++) {
      for (const timer of timers.splice(0)) {
        if (timer.at <= now) timer.run()
        else timers.push(timer)
      }
      while (goOn());
    }
  }
  /**
   * Opens a socket, and records what was handled of it and when its reading was paused or resumed.
   */
  function open(account = 'a', hold?: () => Promise<void> | undefined) {
    const handled: string[] = []
    const sentMessages: string[] = []
    const queue = scheduler.open(account, {
      handle(frame) {
        handled.push(textOf(frame))
        return hold?.()
      },
      onPause: () => sentMessages.push('full'),
      onResume: () => sentMessages.push('free'),
    })
    return { queue, handled, sentMessages }
  }
  return { open, goOn, pass }
}

function textOf({ data, isBinary }: SocketFrame): string {
  if (!data) return 'control'
  return `${isBinary ? 'binary' : 'text'} ${Buffer.from(data).toString('latin1').slice(0, 20)}`
}

function binary(text: string): SocketFrame {
  return { data: Buffer.from(text), isBinary: true }
}

test('one turn of the event loop handles a limited number of frames', () => {
  const { open, goOn } = openTurns()
  const { queue, handled, sentMessages } = open()
  for (let i = 0; i < 200; i++) queue.push(binary(`${i}`))
  assert.equal(handled.length, FRAMES_PER_TURN)
  assert.deepEqual(sentMessages, ['full'])
  goOn()
  assert.equal(handled.length, 2 * FRAMES_PER_TURN)
  while (goOn());
  assert.deepEqual(
    handled,
    Array.from({ length: 200 }, (_, i) => `binary ${i}`),
  )
  assert.deepEqual(sentMessages, ['full', 'free'])
})

test('frames of all kinds keep their order and none is lost', () => {
  const { open, pass } = openTurns()
  const { queue, handled } = open()
  const sent: SocketFrame[] = Array.from({ length: 5000 }, (_, i) => {
    if (i % 7 === 0) return { data: Buffer.from(`{"${i}"`), isBinary: false }
    if (i % 11 === 0) return { isBinary: false }
    return binary(i % 5 === 0 ? '' : `${i}`.padEnd(i % 300, '.'))
  })
  for (const frame of sent) queue.push(frame)
  pass(60_000)
  assert.deepEqual(handled, sent.map(textOf))
  assert.equal(queue.length, 0)
})

test('small frames are limited by the credit of their socket, large ones are not', () => {
  const { open, pass } = openTurns()
  const small = open()
  const large = open('b')
  for (let i = 0; i < 8000; i++) {
    small.queue.push(binary(''))
    large.queue.push({ data: Buffer.alloc(3200), isBinary: true })
  }
  pass(1000)
  assert.equal(large.handled.length, 8000)
  assert.ok(small.handled.length >= AT_ONCE)
  assert.ok(small.handled.length <= AT_ONCE + PER_SECOND)
  pass(2000)
  assert.ok(small.handled.length > AT_ONCE + 2 * PER_SECOND)
  assert.ok(small.handled.length <= AT_ONCE + 3 * PER_SECOND)
})

test('control frames cost as much as small ones', () => {
  const { open, pass } = openTurns()
  const { queue, handled } = open()
  for (let i = 0; i < 8000; i++) queue.push({ isBinary: false })
  pass(1000)
  assert.ok(handled.length <= AT_ONCE + PER_SECOND)
})

test('accounts take turns, however many sockets each has', () => {
  const { open, goOn } = openTurns()
  const many = Array.from({ length: 9 }, () => open('many'))
  for (const { queue } of many) for (let i = 0; i < 100; i++) queue.push(binary('x'))
  const one = open('one')
  for (let i = 0; i < 30; i++) one.queue.push(binary('y'))
  assert.equal(one.handled.length, 0)
  goOn()
  assert.equal(one.handled.length, 30)
})

test('a frame that waits blocks only later frames of its socket', async () => {
  const { open, goOn } = openTurns()
  const release = Promise.withResolvers<void>()
  const held = open('a', () => release.promise)
  const free = open('a')
  held.queue.push(binary('1'))
  held.queue.push(binary('2'))
  free.queue.push(binary('3'))
  while (goOn());
  assert.deepEqual([held.handled, free.handled], [['binary 1'], ['binary 3']])
  assert.deepEqual(held.sentMessages, ['full'])
  release.resolve()
  await release.promise
  await null
  while (goOn());
  assert.deepEqual(held.handled, ['binary 1', 'binary 2'])
})

test('frames of a closed socket are still handled, those of an ended one are not', async () => {
  const { open, goOn } = openTurns()
  const gone = open()
  for (let i = 0; i < 100; i++) gone.queue.push(binary('x'))
  const drained = gone.queue.drained()
  while (goOn());
  await drained
  assert.equal(gone.handled.length, 100)
  assert.equal(gone.queue.drained(), undefined)
  const ended = open()
  for (let i = 0; i < 100; i++) ended.queue.push(binary('x'))
  const { length } = ended.handled
  ended.queue.close()
  while (goOn());
  assert.equal(ended.handled.length, length)
  // It is read again, for the answer to the close.
  assert.deepEqual(ended.sentMessages, ['full', 'free'])
})
