import assert from 'node:assert/strict'
import type { Insertable } from 'kysely'
import type { Db } from '../../../../src/storage/database/db.ts'
import type { EndpointRow } from '../../../../src/storage/database/tables.ts'
import {
  type EndpointFilter,
  pageEndpoints,
} from '../../../../src/storage/deliveries/endpoints/endpoint-list.ts'
import { createSuite } from '../suite.ts'

/** Pages of endpoints. */
export const endpointListTests = createSuite()
const { test } = endpointListTests

/** Stores endpoints, oldest first, each given by its id and its special properties. */
async function addEndpoints(db: Db, endpoints: Record<string, Partial<Insertable<EndpointRow>>>) {
  const rows = Object.entries(endpoints).map(([id, row], i) => ({
    id,
    account: 'acme',
    kind: 'callback' as const,
    url: `https://${id}.example`,
    source: 'jobs' as const,
    name: null,
    events: null,
    created_at: i,
    failing_since: null,
    disabled_at: null,
    ...row,
  }))
  await db.sql.insertInto('endpoints').values(rows).execute()
}

function createPages(db: Db) {
  return async (filter: Omit<EndpointFilter, 'account'> = {}, part = { offset: 0, limit: 10 }) => {
    const { endpoints, more } = await pageEndpoints(db, { account: 'acme', ...filter }, part)
    return { ids: endpoints.map(({ id }) => id).join(''), more }
  }
}

test('endpoints of an account are listed in pages, oldest first', async ({ db }) => {
  await addEndpoints(db, { c: {}, x: { account: 'other' }, a: {}, d: {}, b: { created_at: 3 } })
  const page = createPages(db)
  assert.deepEqual(await page({}, { offset: 0, limit: 2 }), { ids: 'ca', more: true })
  assert.deepEqual(await page({}, { offset: 2, limit: 2 }), { ids: 'bd', more: false })
  assert.deepEqual(await page({}, { offset: 4, limit: 2 }), { ids: '', more: false })
})

test('endpoints are filtered by kind and status', async ({ db }) => {
  await addEndpoints(db, {
    a: {},
    f: { failing_since: 5 },
    d: { failing_since: 5, disabled_at: 9 },
    w: { kind: 'webhook' },
    g: { disabled_at: 9 },
  })
  const page = createPages(db)
  const ids = async (filter: Omit<EndpointFilter, 'account'>) => (await page(filter)).ids
  assert.equal(await ids({ kinds: ['webhook'] }), 'w')
  assert.equal(await ids({ statuses: ['enabled'] }), 'aw')
  assert.equal(await ids({ statuses: ['failing'] }), 'f')
  assert.equal(await ids({ statuses: ['disabled'] }), 'dg')
  assert.equal(await ids({ statuses: ['failing', 'disabled'] }), 'fdg')
  assert.equal(await ids({ kinds: ['callback'], statuses: ['enabled', 'failing'] }), 'af')
})
