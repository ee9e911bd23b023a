import assert from 'node:assert/strict'
import test from 'node:test'
import type { JobFile } from '../../storage/jobs/jobs.ts'
import type { ClaimedJob } from '../../storage/jobs/queue/claim-job.ts'
import { type JobSlot, JobSlots } from './job-slots.ts'
import { LeaseLostError } from './lease-heartbeat.ts'

const longFile = fileOf(null)

function fileOf(duration: number | null, channels = 1): JobFile {
  return { id: 'f', filename: 'a.wav', source: null, duration, channels }
}

/** Starts attempts that run until they are released; `log` lists those that began to work. */
function open({ slots = 2, maxPerAccount = 25 } = {}) {
  let changes = 0
  const running = new JobSlots({ slots, maxPerAccount }, () => changes++)
  const log: string[] = []
  const stop = new AbortController()
  const ends = new Map<string, () => void>()
  const held = new Map<string, JobSlot & { signal: AbortSignal }>()
  function begin(id: string, { hasRecording = true, account = 'acme', file = longFile } = {}) {
    const end = Promise.withResolvers<void>()
    const fetched = Promise.withResolvers<void>()
    ends.set(id, end.resolve)
    const run = async (slot: JobSlot, signal: AbortSignal) => {
      held.set(id, { ...slot, signal })
      await fetched.promise
      try {
        await slot.enter(stop.signal)
        log.push(id)
        await end.promise
      } catch (error) {
        log.push(`${id}: ${error}`)
      }
    }
    running.start({ id, account, hasRecording, file } as ClaimedJob, run)
    return { fetched: fetched.resolve, end: end.resolve }
  }
  return { running, begin, log, stop, held, changes: () => changes }
}

const tick = () => new Promise(setImmediate)

test('attempts with local audio occupy slots, fetching ones do not', async () => {
  const { running, begin } = open()
  begin('a', { hasRecording: false })
  assert.deepEqual(running.findStartable(), { only: undefined })
  begin('b')
  begin('c')
  assert.deepEqual(running.findStartable(), { only: 'remote' })
  assert.equal(running.hasSlotFor({ account: 'x', hasRecording: true }), false)
  assert.equal(running.hasSlotFor({ account: 'x', hasRecording: false }), true)
})

test('a job that is claimed again here starts when its earlier attempt has ended', async () => {
  const { running, begin, held, log } = open()
  const first = begin('a')
  const { signal } = held.get('a')!
  const second = begin('a')
  assert.ok(signal.reason instanceof LeaseLostError)
  assert.equal(held.get('a')?.signal, signal)
  first.fetched()
  first.end()
  await tick()
  assert.notEqual(held.get('a')?.signal, signal)
  assert.deepEqual(running.ids(), ['a'], 'the second attempt is running')
  second.fetched()
  second.end()
  await running.ended()
  assert.deepEqual([running.ids(), log], [[], ['a', 'a']])
})

test('eight short recordings share a slot', () => {
  const { running, begin } = open({ maxPerAccount: 1000 })
  for (let i = 0; i < 13; i++) begin(`short${i}`, { file: fileOf(30) })
  for (let i = 0; i < 2; i++) begin(`stereo${i}`, { file: fileOf(15, 2) })
  assert.deepEqual(running.findStartable(), { only: undefined })
  begin('last', { file: fileOf(1) })
  assert.deepEqual(running.findStartable(), { only: 'remote' })
  const mixed = open({ maxPerAccount: 1000 })
  mixed.begin('short', { file: fileOf(30) })
  mixed.begin('long', { file: fileOf(30.1) })
  assert.deepEqual(mixed.running.findStartable(), { only: undefined })
  mixed.begin('two long channels', { file: fileOf(16, 2) })
  assert.deepEqual(mixed.running.findStartable(), { only: 'remote' })
})

test('a recording of unknown length counts as long until it is decoded', () => {
  const { running, begin, held, changes } = open({ slots: 1 })
  begin('a')
  assert.deepEqual(running.findStartable(), { only: 'remote' })
  const before = changes()
  held.get('a')!.decoded(30)
  assert.equal(changes(), before + 1)
  assert.deepEqual(running.findStartable(), { only: undefined })
  held.get('a')!.decoded(31)
  assert.deepEqual(running.findStartable(), { only: 'remote' })
})

test('fetches are limited, including fetched jobs that wait for a slot', async () => {
  const { running, begin } = open({ maxPerAccount: 1000 })
  for (let i = 0; i < 99; i++) begin(`f${i}`, { hasRecording: false })
  const last = begin('last', { hasRecording: false })
  last.fetched()
  await tick()
  assert.deepEqual(running.findStartable(), { only: 'stored' })
  assert.equal(running.grantSlot(), true)
  assert.deepEqual(running.findStartable(), { only: undefined })
})

test('fetched jobs wait for a slot, the account with the fewest first', async () => {
  const { running, begin, log, changes } = open({ slots: 2 })
  const one = begin('one', { account: 'busy' })
  one.fetched()
  for (const [id, account] of [
    ['two', 'busy'],
    ['three', 'other'],
  ] as const) {
    begin(id, { hasRecording: false, account }).fetched()
  }
  await tick()
  assert.deepEqual([log, changes()], [['one'], 2], 'it reports that they wait')
  assert.equal(running.grantSlot(), true)
  assert.equal(running.grantSlot(), false, 'no slot is free')
  await tick()
  assert.deepEqual(log, ['one', 'three'])
  one.end()
  await tick()
  assert.deepEqual(running.ids(), ['two', 'three'])
  assert.equal(running.grantSlot(), true)
  await tick()
  assert.deepEqual(log, ['one', 'three', 'two'])
})

test('the limit of an account covers fetching and working attempts', () => {
  const { running, begin } = open({ maxPerAccount: 1 })
  begin('a', { hasRecording: false })
  assert.equal(running.hasSlotFor({ account: 'acme', hasRecording: true }), false)
  assert.equal(running.hasSlotFor({ account: 'other', hasRecording: true }), true)
})

test('abortIdle aborts fetching and waiting attempts, not working ones', async () => {
  const { running } = open()
  const aborted: string[] = []
  for (const [id, hasRecording] of [
    ['working', true],
    ['fetching', false],
  ] as const) {
    running.start(
      { id, account: 'a', hasRecording, file: longFile } as ClaimedJob,
      async (_enter, signal) => {
        signal.addEventListener('abort', () => aborted.push(id))
      },
    )
  }
  running.abortIdle(new Error('stopping'))
  assert.deepEqual(aborted, ['fetching'])
})

test('a job waiting for a slot is rejected when its attempt is stopped', async () => {
  const { running, begin, log, stop } = open()
  begin('a', { hasRecording: false }).fetched()
  const late = begin('b', { hasRecording: false })
  await tick()
  stop.abort('stopping')
  late.fetched()
  await running.ended()
  assert.deepEqual(log.sort(), ['a: stopping', 'b: stopping'])
  assert.equal(running.size, 0)
})

test('an attempt waiting for services frees its slot and may take one again', async () => {
  const { running, begin, held, stop, changes } = open({ slots: 1 })
  begin('a').fetched()
  await tick()
  assert.deepEqual(running.findStartable(), { only: 'remote' })
  const before = changes()
  held.get('a')!.leave()
  assert.equal(changes(), before + 1)
  assert.deepEqual(running.findStartable(), { only: undefined })
  const b = begin('b')
  b.fetched()
  await tick()
  let isIn = false
  const entered = held
    .get('a')!
    .enter(stop.signal)
    .then(() => {
      isIn = true
    })
  await tick()
  assert.deepEqual([running.grantSlot(), isIn], [false, false])
  b.end()
  await tick()
  assert.equal(running.grantSlot(), true)
  await entered
  assert.deepEqual(running.findStartable(), { only: 'remote' })
})

test('attempts waiting for services are limited, apart from fetched ones', async () => {
  const { running, begin, held } = open({ slots: 101, maxPerAccount: 1000 })
  for (let i = 0; i < 101; i++) begin(`a${i}`).fetched()
  await tick()
  for (let i = 0; i < 100; i++) held.get(`a${i}`)!.leave()
  assert.deepEqual(running.findStartable(), { only: undefined })
  held.get('a100')!.leave()
  for (let i = 0; i < 100; i++) begin(`b${i}`)
  assert.deepEqual(running.findStartable(), { only: 'remote' }, 'the last one keeps its slot')
})

test('abortIdle does not abort an attempt that waits for services', async () => {
  const { running, begin, held } = open()
  begin('a').fetched()
  begin('fetching', { hasRecording: false }).fetched()
  await tick()
  held.get('a')!.leave()
  running.abortIdle(new Error('stops'))
  assert.equal(held.get('a')!.signal.aborted, false)
  assert.equal(held.get('fetching')!.signal.aborted, true)
})
