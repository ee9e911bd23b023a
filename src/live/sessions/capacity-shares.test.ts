import assert from 'node:assert/strict'
import test from 'node:test'
import { accountsOver, findCapacityRefusal, type Load } from './capacity-shares.ts'

function loads(account: string, count: number, weight = 1): Load[] {
  return Array.from({ length: count }, () => ({ account, weight }))
}

const requested = { account: 'a', max: 8, isAlone: false, reserve: 0.25 }

test('an account alone may use the whole machine', () => {
  const alone = { ...requested, isAlone: true }
  assert.equal(findCapacityRefusal({ ...alone, loads: loads('a', 7) }), undefined)
  assert.equal(findCapacityRefusal({ ...alone, loads: loads('a', 8) })?.reason, 'full')
})

test('an account may use half while others may come, and less when they are active', () => {
  assert.equal(findCapacityRefusal({ ...requested, loads: loads('a', 3) }), undefined)
  assert.equal(findCapacityRefusal({ ...requested, loads: loads('a', 4) })?.reason, 'share')
  const three = [...loads('b', 1), ...loads('c', 1), ...loads('d', 1)]
  assert.equal(
    findCapacityRefusal({ ...requested, loads: [...three, ...loads('a', 1)] }),
    undefined,
  )
  assert.equal(
    findCapacityRefusal({ ...requested, loads: [...three, ...loads('a', 2)] })?.reason,
    'share',
  )
})

test('the first session of an account fits into the reserve', () => {
  const full = [...loads('b', 4), ...loads('c', 4)]
  assert.equal(findCapacityRefusal({ ...requested, loads: full }), undefined)
  assert.equal(findCapacityRefusal({ ...requested, loads: full, reserve: 0 })?.reason, 'full')
  const over = [...full, ...loads('d', 1), ...loads('e', 1)]
  assert.equal(findCapacityRefusal({ ...requested, loads: over })?.reason, 'full')
})

test('silent sessions use little capacity', () => {
  assert.equal(findCapacityRefusal({ ...requested, loads: loads('a', 29, 0.1) }), undefined)
  assert.equal(findCapacityRefusal({ ...requested, loads: loads('a', 31, 0.1) })?.reason, 'share')
})

test('on an overloaded machine accounts above their share are over', () => {
  assert.deepEqual(accountsOver([...loads('a', 7), ...loads('b', 1)], 8), new Set())
  assert.deepEqual(accountsOver([...loads('a', 20), ...loads('b', 1)], 8), new Set(['a']))
  assert.deepEqual(accountsOver(loads('a', 20), 8), new Set())
})
