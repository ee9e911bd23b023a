import assert from 'node:assert/strict'
import test from 'node:test'
import { createRandom } from '../test/support/random/random.ts'
import { createFaultChoice, type Fault } from './faults.ts'

const all: Fault[] = ['away', 'full disk', 'kill', 'pause', 'slow database', 'stall', 'stop']
const fillDisk = () => Promise.resolve()

function take(choose: () => Fault, count: number): Fault[] {
  return Array.from({ length: count }, choose)
}

test('each fault occurs once after a round without one, in an order set by the seed', () => {
  const orders = [1, 2].map((seed) => {
    const choose = createFaultChoice({ random: createRandom(seed), fillDisk })
    assert.equal(choose(), 'none')
    return take(choose, all.length)
  })
  for (const order of orders) assert.deepEqual(order.toSorted(), all)
  assert.notDeepEqual(orders[0], orders[1])
})

test('without a disk that can be filled the full-disk fault is never chosen', () => {
  const choose = createFaultChoice({ random: createRandom(1), fillDisk: undefined })
  const chosen = take(choose, 200)
  assert.ok(!chosen.includes('full disk'))
  assert.equal(new Set(chosen.slice(8)).size, 7)
})

test("'only' selects the same fault in every round", () => {
  const choose = createFaultChoice({ random: createRandom(1), fillDisk, only: 'kill' })
  assert.deepEqual(take(choose, 3), ['kill', 'kill', 'kill'])
})
