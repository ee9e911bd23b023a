import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import test, { type TestContext } from 'node:test'
import { type NameResponse, openNameServer } from '../../../test/support/net/name-server.ts'
import { createResolver, type Resolve, type ResolverSources } from './resolver.ts'
import { parseHosts } from './resolver-files.ts'

async function openTestServer(t: TestContext, response: (name: string) => NameResponse) {
  const server = await openNameServer(response)
  t.after(() => server.close())
  return server
}

async function openResolver(
  t: TestContext,
  response: (name: string) => NameResponse,
  sources: ResolverSources = {},
) {
  const server = await openTestServer(t, response)
  const nothing = { hosts: async () => parseHosts(''), searchDomains: async () => [] }
  const resolve = createResolver({ servers: [server.address], ...nothing, ...sources })
  return { server, find: (host: string, account = 'acme') => find(resolve, host, account) }
}

/** The addresses of a name, in their order. */
function find(resolve: Resolve, host: string, account: string): Promise<string[]> {
  const { promise, resolve: done, reject } = Promise.withResolvers<string[]>()
  resolve(host, { account }, (error, addresses) => {
    if (error) reject(error)
    else done(addresses.map(({ address }) => address))
  })
  return promise
}

test('a name resolves to its IPv4 and IPv6 addresses, IPv4 first', async (t) => {
  const { find } = await openResolver(t, () => ['2001:db8:0:0:0:0:0:1', '192.0.2.1', '192.0.2.2'])
  assert.deepEqual(await find('Store.example'), ['192.0.2.1', '192.0.2.2', '2001:db8::1'])
})

test('a family without addresses or response does not hide the other', async (t) => {
  const { find } = await openResolver(t, () => ['2001:db8::1'])
  assert.deepEqual(await find('six.example'), ['2001:db8::1'])
})

test('a nonexistent name is distinguished from a temporary failure', async (t) => {
  const responses: Record<string, NameResponse> = { 'none.example': 'unknown', 'empty.example': [] }
  const { find } = await openResolver(t, (name) => responses[name] ?? 'broken')
  await assert.rejects(find('none.example'), { code: 'ENOTFOUND' })
  await assert.rejects(find('empty.example'), { code: 'ENOTFOUND' })
  await assert.rejects(find('broken.example'), { code: 'EAI_AGAIN' })
})

test('a silent DNS server times out', async (t) => {
  const { find } = await openResolver(t, () => 'silent', { lookupMs: 50 })
  await assert.rejects(find('slow.example'), { code: 'EAI_AGAIN' })
})

test('a recent failure is cached', async (t) => {
  const { server, find } = await openResolver(t, () => 'unknown')
  await assert.rejects(find('none.example'), { code: 'ENOTFOUND' })
  const questions = server.requested.length
  await assert.rejects(find('none.example'), { code: 'ENOTFOUND' })
  assert.equal(server.requested.length, questions)
})

test('addresses, local names and the hosts file need no DNS server', async (t) => {
  const hosts = parseHosts(
    '# local\n127.0.0.1 localhost\n10.0.0.7 Store store.lan # docker\n::1 store\nx y',
  )
  const { server, find } = await openResolver(t, () => 'broken', { hosts: async () => hosts })
  assert.deepEqual(await find('store'), ['10.0.0.7', '::1'])
  assert.deepEqual(await find('STORE.LAN.'), ['10.0.0.7'])
  assert.deepEqual(await find('localhost'), ['127.0.0.1'])
  assert.deepEqual(await find('app.localhost'), ['127.0.0.1', '::1'])
  assert.deepEqual(await find('192.0.2.1'), ['192.0.2.1'])
  assert.deepEqual(await find('::ffff:127.0.0.1'), ['::ffff:127.0.0.1'])
  await assert.rejects(find('nowhere.invalid'), { code: 'ENOTFOUND' })
  assert.deepEqual(server.requested, [])
})

test('an unresolved name is tried in the search domains', async (t) => {
  const known: Record<string, NameResponse> = { 'store.svc.lan': ['10.0.0.8'] }
  const searchDomains = async () => ['ns.lan', 'svc.lan']
  const { find } = await openResolver(t, (name) => known[name] ?? 'unknown', { searchDomains })
  assert.deepEqual(await find('store'), ['10.0.0.8'])
  await assert.rejects(find('store.'), { code: 'ENOTFOUND' })
})

test('unresolvable names of an account do not delay others or file access', async (t) => {
  const respond = (name: string): NameResponse =>
    name === 'good.example' ? ['192.0.2.1'] : 'silent'
  const { find } = await openResolver(t, respond, { lookupMs: 4000 })
  const stuck = Array.from({ length: 20 }, (_, i) => find(`stuck-${i}.example`, 'attacker'))
  let ended = 0
  for (const one of stuck) one.catch(() => ended++)
  for (let i = 0; i < 20; i++) assert.deepEqual(await find('good.example'), ['192.0.2.1'])
  await stat(import.meta.filename)
  assert.equal(ended, 0, 'they were all under way or waiting meanwhile')
  await Promise.allSettled(stuck)
})

test('concurrent lookups of a name share one query', async (t) => {
  const { server, find } = await openResolver(t, () => ['192.0.2.1'])
  await Promise.all([find('a.example'), find('a.example', 'other'), find('A.example')])
  assert.equal(server.requested.length, 2, 'one question for each family')
})
