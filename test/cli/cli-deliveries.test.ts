import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { after, afterEach, before, beforeEach } from 'node:test'
import { removeEndpoint } from '../../src/storage/deliveries/endpoints/endpoint-removal.ts'
import { insertWebhook } from '../../src/storage/deliveries/endpoints/endpoints.ts'
import { queueWebhooks } from '../../src/storage/deliveries/queue-deliveries.ts'
import { runHere } from '../support/cli/run-here.ts'
import { startServer, type TestServer } from '../support/server/start-server.ts'

const EVENTS = ['transcription.created', 'transcription.success'] as const
const NEVER = '00000000-0000-4000-8000-000000000000'

let server: TestServer
let url: string
/** What the receiver answers. */
let status = 200
const receiver = createServer((request, response) => {
  request.resume()
  response.writeHead(status).end('\u009b2Jthanks')
})

before(async () => {
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  server = await startServer()
})
after(async () => {
  await server.close()
  receiver.close().closeAllConnections()
})

function deliveries(...args: string[]) {
  return runHere(['deliveries', ...args], { STENO_URL: server.url, STENO_KEY: server.key })
}

/** The lines of the list, as their columns. */
async function list(...args: string[]): Promise<string[][]> {
  const { code, stdout, stderr } = await deliveries(...args)
  const [head, ...lines] = stdout.trimEnd().split('\n')
  assert.match(head ?? '', /^id +created +status +event +attempts +job +endpoint +url +reason$/)
  assert.equal(code, 0, stderr)
  return lines.map((line) => line.split(/ {2,}/))
}

let endpoint: string
let job: string

/** A webhook that is gone, and the two events of a job that it was not told for that reason. */
beforeEach(async () => {
  const { storage, delivery } = server.app
  status = 410
  job = randomUUID()
  const webhook = { account: 'test', events: null, source: 'cli', name: null } as const
  const address = `${url}/${job}`
  endpoint = await insertWebhook(storage.db, { ...webhook, url: address, createdAt: 1 })
  await queueWebhooks(storage.db, { id: job, account: 'test' }, EVENTS, { at: Date.now() })
  delivery.wake()
  await delivery.idle()
})

afterEach(async () => {
  await removeEndpoint(server.app.storage.db, endpoint, { reason: 'the test is over', at: 1 })
})

test('steno deliveries lists deliveries with receiver and error, newest first', async () => {
  const [later, first, ...others] = await list('--job', job)
  const [id, created, ...rest] = first!
  assert.match(id!, /^[\da-f-]{36}$/)
  assert.ok(Math.abs(Date.now() - Date.parse(created!)) < 60_000)
  const where = [job, endpoint, `${url}/${job}`]
  assert.deepEqual(rest, ['failed', 'transcription.created', '1', ...where, 'gone'])
  const disabled = 'the endpoint is disabled: it responded with 410 (Gone)'
  assert.deepEqual(later!.slice(2), ['failed', 'transcription.success', '0', ...where, disabled])
  assert.deepEqual(others, [])
})

test('steno deliveries list combines its filters and pages', async () => {
  const eventsOf = async (...args: string[]) => {
    return (await list('--endpoint', endpoint, ...args)).map(([, , , event]) => event)
  }
  assert.deepEqual(await eventsOf(), ['transcription.success', 'transcription.created'])
  assert.deepEqual(await eventsOf('--status', 'pending,delivered'), [])
  assert.deepEqual(await eventsOf('--event', EVENTS[0]), [EVENTS[0]])
  assert.deepEqual(await eventsOf('--event', 'live.transcript,webhook.test'), [])
  assert.deepEqual(await eventsOf('--event', EVENTS.join(), '--status', 'failed'), [
    ...EVENTS.toReversed(),
  ])
  assert.deepEqual(await eventsOf('--job', NEVER), [])
  assert.deepEqual(await eventsOf('--offset', '1'), [EVENTS[0]])
  const { stderr } = await deliveries('list', '--job', job, '--limit', '1')
  assert.equal(stderr, 'More results: repeat the command with --offset 1\n')
})

test('steno deliveries show prints a delivery with attempts as escaped JSON', async () => {
  const [, [id] = []] = await list('--job', job)
  const { code, stdout } = await deliveries('show', id!)
  assert.doesNotMatch(stdout, /\u009b/)
  const shown = JSON.parse(stdout)
  assert.deepEqual([shown.id, shown.job_id, shown.attempts.length], [id, job, 1])
  assert.match(shown.attempts[0].response_body, /thanks/)
  assert.equal(code, 0)
  const gone = await deliveries('show', NEVER)
  assert.match(gone.stderr, /^steno deliveries: Cannot find the delivery/)
  assert.equal(gone.code, 1)
})

test('steno deliveries resend reports what cannot be sent and sends the rest', async () => {
  const [, [id] = []] = await list('--job', job)
  const refused = await deliveries('resend', id!)
  assert.match(refused.stderr, new RegExp(`^${id}: Cannot send to an endpoint that is disabled`))
  assert.equal(refused.code, 1)

  status = 204
  const { folder } = server
  const enabled = await runHere(['webhooks', 'enable', endpoint], { STENO_DATA_DIR: folder })
  assert.equal(enabled.code, 0)
  const { code, stderr } = await deliveries('resend', NEVER, id!)
  const reported = `^${NEVER}: Cannot find the delivery.*\n${id}: queued to be sent again\n$`
  assert.match(stderr, new RegExp(reported))
  assert.equal(code, 1)
  await server.app.delivery.idle()
  const [[delivered] = [], ...others] = await list('--job', job, '--status', 'delivered')
  assert.deepEqual([delivered, others], [id, []])
})

test('steno deliveries resend --failed-since resends failures by job or endpoint', async () => {
  const resend = async (...args: string[]) => {
    const { code, stdout } = await deliveries('resend', '--failed-since', '1h', ...args)
    return [code, stdout]
  }
  assert.deepEqual(await resend('--job', job), [0, '0 queued to be sent again\n'])
  status = 200
  await runHere(['webhooks', 'enable', endpoint], { STENO_DATA_DIR: server.folder })
  assert.deepEqual(await resend('--job', NEVER), [0, '0 queued to be sent again\n'])
  assert.deepEqual(await resend('--endpoint', 'ep_0'), [0, '0 queued to be sent again\n'])
  const future = await deliveries('resend', '--failed-since', '2999-01-01')
  assert.match(future.stderr, /--failed-since must be an age/)
  assert.deepEqual(await resend('--endpoint', endpoint, '--job', job), [
    0,
    '2 queued to be sent again\n',
  ])
  await server.app.delivery.idle()
  assert.equal((await list('--job', job, '--status', 'delivered')).length, 2)
})

test('webhooks test sends the event through the named server', async () => {
  status = 200
  const env = { STENO_URL: server.url, STENO_KEY: server.key }
  const { code, stdout, stderr } = await runHere(['webhooks', 'test', endpoint], env)
  assert.deepEqual([code, stdout], [0, 'delivered: 200\n'])
  const [, id = ''] = /^In the log of deliveries: (\S{36})\n$/.exec(stderr) ?? []
  assert.equal(JSON.parse((await deliveries('show', id)).stdout).event, 'webhook.test')

  status = 500
  const options = ['--server', server.url, '--key', server.key]
  const failed = await runHere(['webhooks', 'test', endpoint, ...options])
  assert.deepEqual([failed.code, failed.stdout], [1, 'failed: the receiver responded with 500\n'])

  const unknown = await runHere(['webhooks', 'test', NEVER], env)
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /Cannot find the endpoint: /)
})
