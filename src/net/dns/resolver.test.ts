import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import test, { type TestContext } from 'node:test'
import { type NameResponse, openNameServer } from '../../../test/support/net/name-server.ts'
import { parseHosts } from './hosts-file.ts'
import { createResolver, type Resolve, type ResolverSources } from './resolver.ts'

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

test('a name has the addresses of both families, those of IPv4 first', async (t) => {
  const { find } = await openResolver(t, () => ['2001:db8:0:0:0:0:0:1', '192.0.2.1', '192.0.2.2'])
  assert.deepEqual(await find('Store.example'), ['192.0.2.1', '192.0.2.2', '2001:db8::1'])
})

test('a family that has no address, or whose question is lost, takes nothing away', async (t) => {
  const { find } = await openResolver(t, () => ['2001:db8::1'])
  assert.deepEqual(await find('six.example'), ['2001:db8::1'])
})

test('a name that does not exist is distinguished from one that nobody can resolve now', async (t) => {
  const responses: Record<string, NameResponse> = { 'none.example': 'unknown', 'empty.example': [] }
  const { find } = await openResolver(t, (name) => responses[name] ?? 'broken')
  await assert.rejects(find('none.example'), { code: 'ENOTFOUND' })
  await assert.rejects(find('empty.example'), { code: 'ENOTFOUND' })
  await assert.rejects(find('broken.example'), { code: 'EAI_AGAIN' })
})

test('a server that is silent is given up in time', async (t) => {
  const { find } = await openResolver(t, () => 'silent', { lookupMs: 50 })
  await assert.rejects(find('slow.example'), { code: 'EAI_AGAIN' })
})

test('a name that has just failed is not asked for again', async (t) => {
  const { server, find } = await openResolver(t, () => 'unknown')
  await assert.rejects(find('none.example'), { code: 'ENOTFOUND' })
  const questions = server.requested.length
  await assert.rejects(find('none.example'), { code: 'ENOTFOUND' })
  assert.equal(server.requested.length, questions)
})

test('addresses, local names and those of the hosts file need no server', async (t) => {
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

test('a name without an address as it stands is tried in the search domains', async (t) => {
  const known: Record<string, NameResponse> = { 'store.svc.lan': ['10.0.0.8'] }
  const searchDomains = async () => ['ns.lan', 'svc.lan']
  const { find } = await openResolver(t, (name) => known[name] ?? 'unknown', { searchDomains })
  assert.deepEqual(await find('store'), ['10.0.0.8'])
  await assert.rejects(find('store.'), { code: 'ENOTFOUND' })
})

test('names of one account that do not resolve hold up neither those of others nor files', async (t) => {
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

test('what is looked up at the same time is asked for once', async (t) => {
  const { server, find } = await openResolver(t, () => ['192.0.2.1'])
  await Promise.all([find('a.example'), find('a.example', 'other'), find('A.example')])
  assert.equal(server.requested.length, 2, 'one question for each family')
})
