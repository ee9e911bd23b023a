import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { type ReportingServer, startReportingServer } from '../support/delivery/reporting-server.ts'
import { call } from '../support/net/http-client.ts'
import { rounds } from '../support/random/rounds.ts'

let server: ReportingServer

before(async () => {
  server = await startReportingServer()
  await server.callBack('/hook')
})
after(() => server.close())

const names = ['status', 'event', 'job_id', 'endpoint_id', 'date', 'after_date', 'offset', 'limit']
/** Any character; a table of all, as fast-check makes for its own, would take a second. */
const unit = fc.nat(0x10ffff - 0x800).map((n) => String.fromCodePoint(n < 0xd800 ? n : n + 0x800))
const values = fc.oneof(
  fc.string({ unit, maxLength: 12 }),
  fc.constantFrom('', 'failed', '2026-03-04', '1', '-1', '9007199254740993', '\u0000', "' or 1=1"),
)

test('any query of the delivery list gets 200 or 400', async () => {
  const name = fc.constantFrom(...names.flatMap((one) => [one, `${one}[]`, `${one}[a]`]))
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(name, values), { maxLength: 6 }), async (pairs) => {
      const query = new URLSearchParams(pairs)
      const { status } = await call(server, `/v2/deliveries?${query}`)
      assert.ok(status === 200 || status === 400, `${query}: ${status}`)
    }),
    { numRuns: rounds(50) },
  )
})

test('any resend request gets 202 or 400', async () => {
  const fields = fc.record(
    {
      since: fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant('2026-01-01'), values),
      job_id: fc.oneof(fc.jsonValue({ maxDepth: 2 }), values),
      endpoint_id: fc.oneof(fc.jsonValue({ maxDepth: 2 }), values),
      other: fc.jsonValue({ maxDepth: 2 }),
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(fc.oneof(fields, fc.jsonValue({ maxDepth: 3 })), async (json) => {
      const { status } = await call(server, '/v2/deliveries/resend', { json })
      assert.ok(status === 202 || status === 400, `${JSON.stringify(json)}: ${status}`)
    }),
    { numRuns: rounds(50) },
  )
})

test('any text as an id gets 404', async () => {
  const id = fc.string({ unit, minLength: 1, maxLength: 40 }).map(encodeURIComponent)
  const routes = fc.constantFrom(
    ['GET', 'deliveries', ''],
    ['POST', 'deliveries', '/resend'],
    ['GET', 'endpoints', ''],
    ['POST', 'endpoints', '/enable'],
    ['POST', 'endpoints', '/disable'],
  )
  await fc.assert(
    fc.asyncProperty(id, routes, async (id, [method, kind, action]) => {
      // What a client itself takes for a step up or down is another path.
      if (/^\.{1,2}$/.test(decodeURIComponent(id))) return
      const path = `/v2/${kind}/${id}${action}`
      assert.equal((await call(server, path, { method: method! })).status, 404, path)
    }),
    { numRuns: rounds(50) },
  )
})
