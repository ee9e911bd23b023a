import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import { generateKey } from '../../../src/api/auth/generate-key.ts'
import { listNodes } from '../../../src/storage/database/nodes/nodes.ts'
import { beginLiveJob, findLiveOwner } from '../../../src/storage/live/live-jobs.ts'
import { abandonHandshake, connect, openSession } from '../../support/live/clients/live-client.ts'
import { defaultLiveParams } from '../../support/live/sessions/default-live-params.ts'
import { jobOf, speech } from '../../support/live/sessions/live-session-jobs.ts'
import { addLiveJob } from '../../support/live/sessions/test-live-jobs.ts'
import { call } from '../../support/net/http-client.ts'
import { captureLog } from '../../support/server/captured-log.ts'
import { startServer } from '../../support/server/start-server.ts'
import { noPostgres, takeDatabase } from '../../support/storage/databases/test-postgres.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

/** Returns what starts a server of given roles in this process, on one database and folder. */
async function openServers(t: TestContext, env: Record<string, string> = {}) {
  const { url } = await takeDatabase(t)
  const shared = { STENO_DATABASE_URL: url, STENO_DATA_DIR: await makeFolder(t) }
  return (roles: string) => startServer({ env: { ...shared, ...env, STENO_ROLES: roles } })
}

/** Whole servers on one database; `test/long/live/nodes.test.ts` kills them. */
describe('nodes of one database', { skip: noPostgres }, () => {
  test('clients of a stopping node continue at another, wherever they connect', async (t) => {
    const start = await openServers(t, { STENO_LIVE_SLOTS: '10' })
    const [one, two] = await Promise.all([start('api,live,worker'), start('api,live')])
    try {
      const { id, url } = await openSession(one)
      const first = await connect(url)
      first.send(speech.subarray(0, 32_000))
      await first.waitForType('audio_chunk')
      const elsewhere = url.replace(new URL(one.url).host, new URL(two.url).host)
      // Passed on to its node, so that the older connection there is replaced.
      const passed = await connect(elsewhere)
      assert.equal((await first.closed).code, 4409)
      // A node that stood still may find the requests of clients that have connected elsewhere.
      await abandonHandshake(elsewhere)
      const stopped = one.close()
      assert.equal((await passed.closed).code, 1012)
      await stopped
      const last = await connect(elsewhere)
      last.send(speech.subarray(32_000))
      last.stop()
      assert.equal((await last.closed).code, 1000)
      assert.equal((await jobOf(id, two)).status, 'done')
    } finally {
      await two.close()
    }
  })

  test('a live node reports an address at which it cannot be reached', async (t) => {
    const { url } = await takeDatabase(t)
    const shared = { STENO_DATABASE_URL: url, STENO_DATA_DIR: await makeFolder(t) }
    const { log, lines } = captureLog()
    const other = await startServer({ env: shared, log })
    t.after(() => other.close())
    for (const nodeUrl of ['http://127.0.0.1:1', other.url]) {
      const { promise: reported, resolve } = Promise.withResolvers<void>()
      const { log } = captureLog()
      t.mock.method(log, 'warn', (_: object, message: string) => {
        if (message === 'other nodes cannot forward live clients to this node') resolve()
      })
      const server = await startServer({ env: { ...shared, STENO_NODE_URL: nodeUrl }, log })
      t.after(() => server.close())
      await reported
    }
    assert.ok(!lines.some(({ msg }) => msg.includes('forward')))
  })

  test('a node serves only the routes of its roles', async (t) => {
    const start = await openServers(t)
    const [api, worker] = await Promise.all([start('api'), start('worker')])
    try {
      for (const { url } of [api, worker]) {
        for (const path of ['/health', '/ready', '/metrics'])
          assert.equal((await fetch(url + path)).status, 200, path)
      }
      assert.equal((await call(worker, '/v2/pre-recorded')).status, 404)
      assert.equal((await call(api, '/v2/pre-recorded')).status, 200)
      assert.equal((await call(api, '/v2/live', { json: {} })).status, 503)
      assert.equal((await call(api, '/v2/nodes')).status, 403)
      const scopes = ['admin' as const]
      const { key } = await generateKey(api.app.storage.db, { account: 'operator', scopes })
      const { body } = await call<{ items: unknown[] }>({ url: api.url, key }, '/v2/nodes')
      const nodes = body.items as { url: string; roles: string[]; state: string }[]
      assert.deepEqual(
        new Map(nodes.map(({ url, roles, state }) => [url, `${roles} ${state}`])),
        new Map([
          [api.url, 'api ready'],
          [worker.url, 'worker ready'],
        ]),
      )
    } finally {
      await Promise.all([api.close(), worker.close()])
    }
  })

  test('a realtime client with a wrong key gets 401 from every node', async (t) => {
    const start = await openServers(t, { STENO_LIVE_SLOTS: '10' })
    const servers = await Promise.all([start('api'), start('live')])
    try {
      for (const { url } of servers) {
        const headers = { authorization: 'Bearer wrong-key' }
        const socket = new WebSocket(`${url}/v1/realtime`, { headers })
        const [error] = (await once(socket, 'error')) as [Error]
        assert.equal(error.message, 'Unexpected server response: 401')
      }
    } finally {
      await Promise.all(servers.map((server) => server.close()))
    }
  })

  test('a realtime client that was forwarded is not forwarded again', async (t) => {
    const start = await openServers(t, { STENO_LIVE_SLOTS: '10' })
    const [api, live] = await Promise.all([start('api'), start('live')])
    try {
      const urls = async () => (await listNodes(live.app.storage.db)).map(({ url }) => url)
      while (!(await urls()).includes(live.url));
      // As that of a load balancer which chooses another node.
      await live.app.storage.node.report({ url: api.url })
      let upgrades = 0
      api.app.http.server.on('upgrade', () => upgrades++)
      const headers = { authorization: `Bearer ${api.key}` }
      const socket = new WebSocket(`${api.url}/v1/realtime`, { headers })
      socket.on('error', () => {})
      await Promise.race([once(socket, 'open'), once(socket, 'close')])
      socket.terminate()
      assert.equal(upgrades, 2)
    } finally {
      await Promise.all([api.close(), live.close()])
    }
  })

  test('a realtime client is forwarded past a node that does not respond', async (t) => {
    const start = await openServers(t, { STENO_LIVE_SLOTS: '10' })
    const [api, lost, live] = await Promise.all([start('api'), start('live'), start('live')])
    try {
      // A node that reports its address later would undo what follows.
      const areKnown = async () => {
        const urls = (await listNodes(live.app.storage.db)).map(({ url }) => url)
        return [lost, live].every(({ url }) => urls.includes(url))
      }
      while (!(await areKnown()));
      const isFreest = { capacity: 50, load: 0, sessions: 0 }
      await lost.app.storage.node.report({ url: 'http://127.0.0.1:1', live: isFreest })
      const headers = { authorization: `Bearer ${api.key}` }
      const socket = new WebSocket(`${api.url}/v1/realtime`, { headers })
      await once(socket, 'open')
      socket.terminate()
      await live.app.storage.node.report({ url: 'http://127.0.0.1:1' })
      const [error] = (await once(new WebSocket(socket.url, { headers }), 'error')) as [Error]
      assert.equal(error.message, 'Unexpected server response: 503')
    } finally {
      await Promise.all([api, lost, live].map((server) => server.close()))
    }
  })

  test('abandoned sessions are resumed or ended', async (t) => {
    const { url } = await takeDatabase(t)
    const env = { STENO_DATABASE_URL: url, STENO_LIVE_CONNECT_TIMEOUT_S: '60' }
    const server = await startServer({ env })
    try {
      const { db } = server.app.storage
      const late = await addLiveJob(db, { createdAt: Date.now() - 80_000 })
      const awaited = await addLiveJob(db, { createdAt: Date.now() })
      const begun = await addLiveJob(db, { params: defaultLiveParams })
      await beginLiveJob(db, begun.id, { owner: 'dead', at: Date.now() })
      await server.app.live.resumeAbandoned()
      while (!(await findLiveOwner(db, begun.id)));
      assert.equal(await findLiveOwner(db, begun.id), db.nodeId)
      const statuses = await db.sql.selectFrom('jobs').select(['id', 'status']).execute()
      assert.deepEqual(
        new Map(statuses.map(({ id, status }) => [id, status])),
        new Map([
          [awaited.id, 'queued'],
          [late.id, 'error'],
          [begun.id, 'processing'],
        ]),
      )
    } finally {
      await server.close()
    }
  })

  test('a server with another object store is rejected', async (t) => {
    const start = await openServers(t)
    const one = await start('api')
    try {
      const env = { STENO_DATABASE_URL: one.app.config.storage.database!.url }
      await assert.rejects(startServer({ env }), /keeps its recordings elsewhere; set the same/)
      assert.equal((await listNodes(one.app.storage.db)).length, 1)
    } finally {
      await one.close()
    }
  })
})
