import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type TestContext } from 'node:test'
import { readConfig } from '../../../src/config/config.ts'
import { createSender } from '../../../src/delivery/http/sender.ts'
import { createResolver } from '../../../src/net/dns/resolver.ts'
import { findJob } from '../../../src/storage/jobs/jobs.ts'
import { openReceiver } from '../../support/delivery/receiver.ts'
import { openService } from '../../support/jobs/test-service.ts'
import { type NameResponse, openNameServer } from '../../support/net/name-server.ts'

const ATTACKER = 'attacker'
const OTHER = 'other'
const env = { STENO_ALLOW_PRIVATE_NETWORK: 'true' }

/** Knows where `good.example` is, says nothing of any other name, and counts what it was asked. */
async function openResolver(t: TestContext, response?: (name: string) => NameResponse) {
  const usual = (name: string): NameResponse => (name === 'good.example' ? ['127.0.0.1'] : 'silent')
  const server = await openNameServer(response ?? usual)
  t.after(() => server.close())
  return { server, resolve: createResolver({ servers: [server.address], lookupMs: 1000 }) }
}

async function openSource(t: TestContext): Promise<string> {
  const server = createServer((_request, response) => response.end('{"seconds":4}'))
  server.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  return `http://good.example:${(server.address() as AddressInfo).port}/a.wav`
}

test('unresolvable names of an account delay no fetch, job or callback of another', async (t) => {
  const { resolve } = await openResolver(t)
  const source = await openSource(t)
  const service = await openService(t, { env, resolve })
  await service.jobs.start()
  const { signal } = new AbortController()
  const ask = (account: string, source: string) =>
    service.jobs.service.submit(account, {
      params: {},
      customMetadata: null,
      fileId: null,
      source,
    })

  const stuck = Array.from({ length: 25 }, (_, i) =>
    service.jobs.service.uploadFromUrl(ATTACKER, { source: `http://stuck-${i}.example/`, signal }),
  )
  for (const one of stuck) one.catch(() => {})
  for (let i = 0; i < 4; i++) await ask(ATTACKER, `http://stuck-job-${i}.example/`)

  for (let i = 0; i < 5; i++) await service.jobs.service.uploadFromUrl(OTHER, { source, signal })
  const receiver = await openReceiver()
  t.after(() => receiver.close())
  const sender = createSender({ config: readConfig(env), resolve })
  t.after(() => sender.close())
  const url = `http://good.example:${new URL(receiver.url).port}/`
  const delivery = { id: 'a', account: OTHER, method: 'POST', url } as const
  const body = { bytes: 0, async *chunks() {} }
  const { status } = await sender.send({ delivery, body, secrets: [], signal })
  assert.equal(status, 200)

  const { id } = await ask(OTHER, source)
  let job = await findJob(service.storage.db, { id, account: OTHER })
  while (job && job.completedAt === null) {
    job = await findJob(service.storage.db, { id, account: OTHER })
  }
  assert.equal(job?.status, 'done')
  await Promise.allSettled(stuck)
})

test('a job with a temporary name lookup failure is retried', async (t) => {
  const { resolve } = await openResolver(t, () => 'broken')
  const service = await openService(t, { env, resolve })
  await service.jobs.start()
  const request = { params: {}, customMetadata: null, fileId: null, source: 'http://a.example/' }
  const { id } = await service.jobs.service.submit(OTHER, request)
  const read = () =>
    service.storage.db.sql
      .selectFrom('jobs')
      .select(['status', 'attempt', 'lease_epoch'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  let row = await read()
  while (row.lease_epoch === 0 || row.status === 'processing') row = await read()
  assert.deepEqual([row.status, row.attempt], ['queued', 1])
})
