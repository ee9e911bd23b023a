import assert from 'node:assert/strict'
import test from 'node:test'
import Fastify from 'fastify'
import { addRoutes } from './add-routes.ts'

test('addRoutes adds the routes of all groups to the server itself', async (t) => {
  const http = Fastify()
  t.after(() => http.close())
  await addRoutes(
    http,
    async (one) => void one.get('/one', async () => ({ a: 1 })),
    async (other) => void other.post('/other', async ({ body }) => body),
  )
  assert.deepEqual((await http.inject('/one')).json(), { a: 1 })
  const other = await http.inject({ method: 'POST', url: '/other', payload: { b: 2 } })
  assert.deepEqual(other.json(), { b: 2 })
})

test('addRoutes rejects a group that adds a global hook or parser', async (t) => {
  const http = Fastify()
  t.after(() => http.close())
  await assert.rejects(
    addRoutes(http, async (routes) => void routes.addHook('onSend', async () => {})),
    new TypeError('Cannot call addHook onSend in addRoutes: use http.register for these routes'),
  )
  await assert.rejects(
    addRoutes(http, async (routes) => routes.removeAllContentTypeParsers()),
    /Cannot call removeAllContentTypeParsers in addRoutes/,
  )
  assert.equal((await http.inject('/')).statusCode, 404)
})

test('addRoutes lets a group add an onClose hook', async () => {
  const http = Fastify()
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>()
  await addRoutes(http, async (routes) => void routes.addHook('onClose', async () => onClosed()))
  await http.close()
  await closed
})
