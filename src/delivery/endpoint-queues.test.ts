import assert from 'node:assert/strict'
import test from 'node:test'
import { type EndpointQueue, EndpointQueues } from './endpoint-queues.ts'

let ids = 0

/** Sends up to the free capacity; returns the ids of the requests. */
function fill(queues: EndpointQueues, queue: EndpointQueue): string[] {
  return Array.from({ length: queues.freeSlots(queue) }, () => {
    const id = String(ids++)
    queues.begin(queue, id, { jobId: null, abort: new AbortController() })
    return id
  })
}

function addUnproven(queues: EndpointQueues, endpointId: string, account = 'a'): EndpointQueue {
  queues.schedule({ endpointId, account, nextAt: 0 })
  return queues.ready(0).find((queue) => queue.endpointId === endpointId)!
}

/** Adds an endpoint that accepted its last delivery. */
function addQueue(queues: EndpointQueues, endpointId: string, account = 'a'): EndpointQueue {
  queues.schedule({ endpointId, account, nextAt: 0, isProven: true })
  return queues.ready(0).find((queue) => queue.endpointId === endpointId)!
}

function endAll(queues: EndpointQueues, queue: EndpointQueue, isSuccess: boolean): void {
  for (const id of [...queue.inFlight.keys()]) queues.end(queue, id, { isSuccess })
}

/** Fails an endpoint until it counts as failing. */
function failOften(queues: EndpointQueues, queue: EndpointQueue): void {
  fill(queues, queue)
  endAll(queues, queue, false)
}

test('an endpoint has 16 requests in flight, an account 64, and all of them 256', () => {
  const queues = new EndpointQueues()
  const added = ['1', '2', '3', '4', '5'].map((id) => addQueue(queues, id))
  assert.deepEqual(
    added.map((queue) => fill(queues, queue).length),
    [16, 16, 16, 16, 0],
  )
  for (const account of ['b', 'c', 'd', 'e']) {
    for (let i = 0; i < 4; i++) {
      const queue = addQueue(queues, `${account}${i}`, account)
      if (queue) fill(queues, queue)
    }
  }
  assert.equal(queues.ids().length, 256)
  assert.deepEqual(queues.ready(0), [])
})

test('an endpoint is limited to two requests after five failures, until a success', () => {
  const queues = new EndpointQueues()
  const queue = addQueue(queues, '1')
  const flights = fill(queues, queue)
  for (const id of flights.slice(0, 4)) queues.end(queue, id, { isSuccess: false })
  assert.equal(queues.freeSlots(queue), 4)
  queues.end(queue, flights[4]!, { isSuccess: undefined })
  assert.equal(queues.freeSlots(queue), 5, 'an attempt that came to nothing does not count')
  queues.end(queue, flights[5]!, { isSuccess: false })
  assert.equal(queues.freeSlots(queue), 0)
  endAll(queues, queue, false)
  assert.equal(fill(queues, queue).length, 2)
  endAll(queues, queue, true)
  assert.equal(fill(queues, queue).length, 16)
})

test("failing endpoints leave half of an account's capacity to working ones", () => {
  const queues = new EndpointQueues()
  const failing = Array.from({ length: 40 }, (_, i) => addQueue(queues, `f${i}`))
  for (const queue of failing) failOften(queues, queue)
  const held = failing.map((queue) => fill(queues, queue).length)
  assert.equal(
    held.reduce((sum, one) => sum + one),
    32,
  )
  const healthy = ['1', '2', '3'].map((id) => addQueue(queues, id))
  assert.deepEqual(
    healthy.map((queue) => fill(queues, queue).length),
    [16, 16, 0],
  )
})

test('endpoints with capacity and a due delivery take turns', () => {
  const queues = new EndpointQueues()
  const [first, second] = [addQueue(queues, '1'), addQueue(queues, '2')]
  queues.schedule({ endpointId: '3', account: 'a', nextAt: 10 })
  assert.deepEqual(queues.ready(9), [first, second])
  queues.begin(first, 'x', { jobId: null, abort: new AbortController() })
  assert.deepEqual(
    queues.ready(10).map(({ endpointId }) => endpointId),
    ['2', '3', '1'],
  )
})

test('the next due time considers only endpoints with capacity', () => {
  const queues = new EndpointQueues()
  const queue = addQueue(queues, '1')
  fill(queues, queue)
  assert.equal(queues.nextAt(), Number.POSITIVE_INFINITY)
  queues.schedule({ endpointId: '2', account: 'a', nextAt: 30 })
  queues.schedule({ endpointId: '2', account: 'a', nextAt: 40 })
  assert.equal(queues.nextAt(), 30)
  queues.end(queue, [...queue.inFlight.keys()][0]!, { isSuccess: true })
  assert.equal(queues.nextAt(), 0)
})

test('an idle endpoint is removed together with its failures', () => {
  const queues = new EndpointQueues()
  const queue = addQueue(queues, '1')
  fill(queues, queue)
  queue.nextAt = Number.POSITIVE_INFINITY
  endAll(queues, queue, false)
  const anew = addQueue(queues, '1')
  assert.notEqual(anew, queue)
  assert.equal(queues.freeSlots(anew), 16)
})

test('an endpoint without a record has four requests in flight, until a success', () => {
  const queues = new EndpointQueues()
  const queue = addUnproven(queues, '1')
  const [first] = fill(queues, queue)
  assert.equal(queue.inFlight.size, 4)
  queues.end(queue, first!, { isSuccess: false })
  assert.equal(fill(queues, queue).length, 1)
  queues.end(queue, [...queue.inFlight.keys()][0]!, { isSuccess: true })
  assert.equal(fill(queues, queue).length, 13)
})

test('endpoints without a record leave half of the capacity to proven ones', () => {
  const queues = new EndpointQueues()
  for (let i = 0; i < 80; i++) {
    const queue = addUnproven(queues, `new${i}`, `account${i % 5}`)
    if (queue) fill(queues, queue)
  }
  assert.equal(queues.ids().length, 128)
  assert.equal(addUnproven(queues, 'another', 'other'), undefined)
  assert.equal(fill(queues, addQueue(queues, 'another', 'other')).length, 16, 'known by now')
})
