import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, MAX_TIMER_MS } from '../../clock.ts'
import { ConnectTimeouts } from './connect-timeouts.ts'

/** Creates timeouts of this length, and collects the sessions that no client joined. */
function awaitFor(timeoutMs: number) {
  const late: string[] = []
  const someLate = Promise.withResolvers<void>()
  const onTimeout = (id: string) => {
    late.push(id)
    someLate.resolve()
  }
  return {
    clients: new ConnectTimeouts({ timeoutMs, onTimeout }),
    late,
    someLate: someLate.promise,
  }
}

test('the connect timeout counts from the creation of the session', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 10_000 })
  const { clients, late } = awaitFor(5000)
  clients.add({ id: 'earlier', createdAt: 6000 })
  clients.add({ id: 'claimed', createdAt: 8000 })
  clients.add({ id: 'new', createdAt: 10_000 })
  clients.remove('claimed')
  t.mock.timers.tick(999)
  assert.deepEqual(late, [])
  t.mock.timers.tick(1)
  assert.deepEqual(late, ['earlier'])
  t.mock.timers.tick(4000)
  assert.deepEqual(late, ['earlier', 'new'])
})

test('a session created during shutdown is left to the next start', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 10_000 })
  const { clients, late } = awaitFor(5000)
  clients.add({ id: 'before', createdAt: 10_000 })
  clients.close()
  clients.add({ id: 'after', createdAt: 10_000 })
  assert.equal(clients.size, 0)
  t.mock.timers.tick(5000)
  assert.deepEqual(late, [])
})

test('the connect timeout is limited even if the clock was set back', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 10_000 })
  const { clients, late } = awaitFor(5000)
  clients.add({ id: 'ahead', createdAt: 365 * DAY_MS })
  t.mock.timers.tick(5000)
  assert.deepEqual(late, ['ahead'])
})

test('a timeout longer than a timer can wait does not fire at once', async () => {
  const long = awaitFor(30 * DAY_MS)
  const short = awaitFor(20)
  long.clients.add({ id: 'long', createdAt: Date.now() })
  short.clients.add({ id: 'short', createdAt: Date.now() })
  await short.someLate
  long.clients.close()
  assert.deepEqual(long.late, [])
})

test('a timeout longer than a timer can wait fires at its end', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const { clients, late } = awaitFor(30 * DAY_MS)
  clients.add({ id: 'long', createdAt: 0 })
  t.mock.timers.tick(MAX_TIMER_MS)
  t.mock.timers.tick(30 * DAY_MS - MAX_TIMER_MS - 1)
  assert.deepEqual(late, [])
  t.mock.timers.tick(1)
  assert.deepEqual(late, ['long'])
})

test('close() cancels pending connect timeouts', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'] })
  const { clients, late } = awaitFor(5000)
  clients.add({ id: 'one', createdAt: 0 })
  clients.close()
  t.mock.timers.tick(5000)
  assert.deepEqual(late, [])
})
