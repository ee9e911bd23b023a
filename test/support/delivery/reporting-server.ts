import assert from 'node:assert/strict'
import type { JobView } from '../../../src/api/schemas/jobs/job.ts'
import type { DeliveryView } from '../../../src/api/schemas/webhooks/delivery.ts'
import type { EndpointView } from '../../../src/api/schemas/webhooks/endpoint.ts'
import { createToneWav } from '../audio/recordings.ts'
import { call, upload } from '../net/http-client.ts'
import { startServer, type TestServer } from '../server/start-server.ts'
import { openReceiver, type Receiver, type Response } from './receiver.ts'
import { createSkippingClock } from './skipping-clock.ts'

/** A server, and the receiver of its notifications. */
export type ReportingServer = TestServer & {
  receiver: Receiver
  /** The receiver's answers by path; 200 for all other paths. */
  answers: Map<string, Response>
  /** An upload of half a second. */
  audioUrl: string
  /** Creates a job, and waits until it has ended and no delivery is due. */
  run(fields?: Record<string, unknown>): Promise<JobView>
  /** Does the same for a job with a callback to a path of the receiver. */
  callBack(path: string, fields?: Record<string, unknown>): Promise<JobView>
  /** Advances the clock for deliveries, and waits for those that became due. */
  skip(ms: number): Promise<void>
}

/** An address on loopback at which nothing listens: a job with it fails at once. */
export const NOWHERE = 'http://127.0.0.1:1/talk.wav'

/** Starts a server beside a receiver, the only private address that it may reach. */
export async function startReportingServer(
  envOf: (receiverUrl: string) => Record<string, string> = () => ({}),
): Promise<ReportingServer> {
  const clock = createSkippingClock()
  const responses = new Map<string, Response>()
  const receiver = await openReceiver((one, response) => {
    return (responses.get(one.path) ?? (() => 200))(one, response)
  })
  const env = { STENO_ALLOW_PRIVATE_NETWORK: '127.0.0.1', ...envOf(receiver.url) }
  const server = await startServer({ clock, env })
  const { jobs, delivery } = server.app
  const audioUrl = await upload(server, createToneWav(0.5))

  async function run(fields: Record<string, unknown> = {}): Promise<JobView> {
    const json = { audio_url: audioUrl, ...fields }
    const { status, body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
    assert.equal(status, 201, JSON.stringify(body))
    await jobs.idle()
    await delivery.idle()
    return (await call<JobView>(server, `/v2/pre-recorded/${body.id}`)).body
  }

  return {
    ...server,
    receiver,
    answers: responses,
    audioUrl,
    run,
    callBack(path, fields = {}) {
      return run({ callback: true, callback_config: { url: receiver.url + path }, ...fields })
    },
    async skip(ms) {
      clock.skip(ms)
      await delivery.idle()
    },
    close: () => server.close().finally(() => receiver.close()),
  }
}

/** A page of deliveries. */
export type DeliveryList = {
  first: string
  current: string
  next: string | null
  items: DeliveryView[]
}

type Caller = Pick<TestServer, 'url' | 'key'>

/** Returns the deliveries that match a query, the newest first. */
export async function listDeliveries(server: Caller, query = ''): Promise<DeliveryView[]> {
  const { status, body } = await call<DeliveryList>(server, `/v2/deliveries?${query}`)
  assert.equal(status, 200, JSON.stringify(body))
  return body.items
}

/** Returns the log entry of a job's callback. */
export async function callbackOf(server: Caller, { id }: { id: string }): Promise<DeliveryView> {
  const reported = await listDeliveries(server, `job_id=${id}`)
  return reported.find(({ kind }) => kind === 'callback')!
}

/** Returns all endpoints of the account. */
export async function listEndpoints(server: Caller): Promise<EndpointView[]> {
  return (await call<{ items: EndpointView[] }>(server, '/v2/endpoints')).body.items
}
