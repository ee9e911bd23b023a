import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { runHere } from '../../../test/support/cli/run-here.ts'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { findAttempts, findDelivery } from '../../storage/deliveries/delivery-log.ts'
import { findEndpoint, insertWebhook } from '../../storage/deliveries/endpoints/endpoints.ts'
import { addSecret, generateSecret } from '../../storage/deliveries/endpoints/signing-secrets.ts'

type Received = { headers: IncomingHttpHeaders; body: string }

/**
 * Creates a webhook of the account `acme` at a receiver on loopback that responds as `respond`
 * does.
 */
async function open(t: TestContext, answer: (response: ServerResponse) => void) {
  const received: Received[] = []
  const receiver = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) })
    answer(response)
  })
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  t.after(() => receiver.close().closeAllConnections())
  const { db, folder } = await openTestStorage(t)
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const webhook = { url, events: null, source: 'cli', name: null, createdAt: 1 } as const
  const id = await insertWebhook(db, { ...webhook, account: 'acme' })
  const usual = { STENO_DATA_DIR: folder, STENO_ALLOW_PRIVATE_NETWORK: 'true' }
  return {
    db,
    id,
    received,
    trial: (env = {}) => runHere(['webhooks', 'test', id], { ...usual, ...env }),
    /** Returns the delivery that the command named, with its attempts. */
    async logged(stderr: string) {
      const [, delivery = ''] = /^In the log of deliveries: (\S{36})\n$/.exec(stderr) ?? []
      const attempts = await findAttempts(db, [delivery])
      return {
        delivery: (await findDelivery(db, { id: delivery, account: 'acme' }))!,
        attempts: attempts.get(delivery)!,
      }
    },
  }
}

test('a test event is signed, delivered and logged', async (t) => {
  const { db, id, received, trial, logged } = await open(t, (response) => response.end('thanks'))
  const secret = generateSecret()
  await addSecret(db, { account: 'acme', endpointId: id, secret, at: 1 })
  const { code, stdout, stderr } = await trial()
  assert.match(stdout, /^delivered: 200; \d+ ms; signed\n$/)
  assert.equal(code, 0)

  const { delivery, attempts } = await logged(stderr)
  const [{ headers, body } = { headers: {}, body: '' }, ...others] = received
  const reported = { event: 'webhook.test', payload: { id: delivery.id } }
  assert.deepEqual(new Webhook(secret).verify(body, headers as Record<string, string>), reported)
  assert.deepEqual([headers['webhook-id'], others], [delivery.id, []])
  const { jobId, endpointId, event, state } = delivery
  assert.deepEqual([jobId, endpointId, event, state], [null, id, 'webhook.test', 'delivered'])
  assert.deepEqual(
    attempts.map(({ number, status, responseBody }) => [number, status, responseBody]),
    [[1, 200, 'thanks']],
  )
  assert.equal(delivery.body, body)
})

test('a failed test event reports the reason, exits with code 1 and is logged', async (t) => {
  const { db, id, received, trial, logged } = await open(t, (response) => {
    response.writeHead(500).end()
  })
  const { code, stdout, stderr } = await trial()
  const reported =
    /^failed: the receiver responded with 500; \d+ ms; not signed, as there is no secret\n$/
  assert.match(stdout, reported)
  assert.equal(code, 1)
  assert.equal(received.length, 1)
  const { delivery, attempts } = await logged(stderr)
  assert.deepEqual([delivery.state, delivery.reason], ['failed', 'the receiver responded with 500'])
  assert.equal(attempts.length, 1)
  assert.equal((await findEndpoint(db, { id }))?.failingSince, null)
})

test('a test event is signed with the configured secret if none is stored', async (t) => {
  const { received, trial } = await open(t, (response) => response.end())
  const secret = generateSecret()
  const { stdout } = await trial({ STENO_WEBHOOK_SECRETS: `acme:${secret}` })
  assert.match(stdout, /; signed\n$/)
  const [{ headers, body } = { headers: {}, body: '' }] = received
  assert.ok(new Webhook(secret).verify(body, headers as Record<string, string>))
})

test('a test event is not sent to a private address', async (t) => {
  const { received, trial } = await open(t, (response) => response.end())
  const { code, stdout } = await trial({ STENO_ALLOW_PRIVATE_NETWORK: 'false' })
  assert.match(
    stdout,
    /^failed: .*not a public address; .* STENO_ALLOW_PRIVATE_NETWORK can allow it; /,
  )
  assert.deepEqual([code, received], [1, []])
})
