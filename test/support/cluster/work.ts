import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { checkAccount, list, untilSettled } from '../api/account-checks.ts'
import type { BusyAccount, RequestKind } from '../api/busy-account.ts'
import { createToneWav } from '../audio/recordings.ts'
import type { ReceivedJob } from '../delivery/expected-sequences.ts'
import type { OpenedSession } from '../live/clients/live-client.ts'
import {
  type ReconnectingClient,
  startReconnectingClient,
} from '../live/clients/reconnecting-client.ts'
import { type LiveTestAudio, makeLiveAudio, streamOf } from '../live/live-audio.ts'
import {
  assertReceived,
  assertSame,
  type Transcript,
  transcribeUndisturbed,
} from '../live/live-comparison.ts'
import { randomClient, randomParams } from '../live/random-client.ts'
import { allFlags } from '../live/sessions/live-flags.ts'
import { audioForm, call, type Response, type Uploaded } from '../net/http-client.ts'
import type { TestServer } from '../server/start-server.ts'
import type { Cluster } from './cluster.ts'

type Session = {
  id: string
  audio: LiveTestAudio
  expected: Transcript
  client: ReconnectingClient
}

/** Jobs and sessions of a cluster, and what an undisturbed server makes of the same sound. */
export type Work = {
  addJob(): Promise<void>
  addSession(seconds: number): Promise<void>
  /** The sessions whose client still has something to do. */
  open(): Session[]
  /** Asserts that all accepted work ends, and as it would have without any fault. */
  finish(): Promise<string>
  leave(): void
}

/** What a session sends to its client and its receiver alike. */
const flags = { ...allFlags, receive_pre_processing_events: false }

/** The timeout of a request: its node may have lost its network. */
const TIMEOUT_MS = 20_000
const PAUSE_MS = 100

/** Creates work for a cluster; `steady` is never disturbed. */
export function createWork(
  { server, receiver }: Cluster,
  { steady, random }: { steady: TestServer; random: () => number },
): Work {
  const wishes: RequestKind[] = []
  const accepted = new Map<string, number>()
  const sessions: Session[] = []
  /** The expected results by the numbers of the jobs. */
  const expected = new Map<number, unknown>()
  /** How a job ended, from when that was first seen. */
  const ends = new Map<string, string>()

  /**
   * Repeats the request until a node accepts it. The idempotency key makes one job of all attempts.
   */
  async function create<T extends { id: string }>(
    path: string,
    kind: RequestKind['kind'],
    params: Record<string, unknown>,
  ): Promise<T> {
    const n = wishes.push({ kind, method: 'POST', receiver: 0 }) - 1
    const config = { url: `${receiver.url}/callback/${n}`, ...(kind === 'live' && flags) }
    const callback = { callback: true, callback_config: config, custom_metadata: { n } }
    const headers = { 'idempotency-key': randomUUID() }
    const body = await callUntilAccepted<T>(server, path, 201, () => ({
      json: { ...params, ...callback },
      headers,
    }))
    accepted.set(body.id, n)
    return body
  }

  async function addJob(): Promise<void> {
    const sound = createToneWav(1 + 9 * random())
    const expecting = transcribe(steady, sound)
    const uploaded = () => ({ method: 'POST', body: audioForm(sound) })
    const { audio_url } = await callUntilAccepted<Uploaded>(server, '/v2/upload', 200, uploaded)
    const { id } = await create('/v2/pre-recorded', 'pre-recorded', { audio_url })
    expected.set(accepted.get(id)!, await expecting)
  }

  async function addSession(seconds: number): Promise<void> {
    const audio = makeLiveAudio(random, { seconds })
    const processing = { realtime_processing: {}, post_processing: {} }
    const params = { ...randomParams(random), ...processing, messages_config: flags }
    const wanted = await transcribeUndisturbed(steady, audio, params)
    const { id, url } = await create<OpenedSession>('/v2/live', 'live', {
      ...params,
      ...audio.params,
    })
    const manner = { ...randomClient(random, audio), lostConnections: 0, random }
    const client = startReconnectingClient({ url, stream: streamOf(audio), ...manner })
    sessions.push({ id, audio, expected: wanted, client })
  }

  function noteEnds(jobs: readonly ReceivedJob[]): void {
    for (const { id, status, completed_at } of jobs) {
      if (!completed_at) continue
      const end = `${status} ${completed_at}`
      assert.equal(ends.get(id) ?? end, end, 'a job that has ended never changes')
      ends.set(id, end)
    }
  }

  async function finish(): Promise<string> {
    await Promise.all(sessions.map(({ client }) => client.ended))
    await untilSettled(server)
    const jobs = await list<ReceivedJob>(server, '/v2/transcription?limit=200')
    noteEnds(jobs)
    assert.equal(jobs.length, accepted.size, 'each request became one job')
    for (const job of jobs) {
      assert.equal(job.status, 'done', `${job.id}: ${job.error_code}`)
      const n = job.custom_metadata.n
      if (job.kind === 'pre-recorded') assert.deepEqual(timeless(job.result), expected.get(n))
    }
    for (const { id, audio, expected: wanted, client } of sessions) {
      const texts = await assertSame(server, { id, audio, expected: wanted })
      // Only the callback is told that the session was created.
      assertReceived(client, texts.slice(1))
    }
    const none = { requested: new Set<string>(), deleted: new Map<string, number[]>() }
    const clients = sessions.map(({ client }) => client)
    const act = () => Promise.resolve()
    const account: BusyAccount = { wishes, accepted, ...none, clients, act }
    const { events, arrivals } = await checkAccount(server, { account, receivers: [receiver] })
    return `${jobs.length} jobs, ${sessions.length} of them live; ${events} events in ${arrivals} arrivals`
  }

  return {
    addJob,
    addSession,
    finish,
    open: () => sessions.filter(({ client }) => client.closes.at(-1)?.code !== 1000),
    leave: () => sessions.forEach(({ client }) => void client.leave()),
  }
}

type Server = Pick<TestServer, 'url' | 'key'>

/**
 * Repeats a request until its response has the status `wanted`. While nodes are down, the others
 * may respond with 503.
 */
async function callUntilAccepted<T>(
  server: Server,
  path: string,
  wanted: number,
  request: () => Parameters<typeof call>[2],
): Promise<T> {
  for (;;) {
    const response = await ignoreNetworkErrors(() => {
      return call<T>(server, path, { ...request(), signal: AbortSignal.timeout(TIMEOUT_MS) })
    })
    if (response?.status === wanted) return response.body
    if (response) assert.equal(response.status, 503, `${path}: ${JSON.stringify(response.body)}`)
    await delay(PAUSE_MS)
  }
}

/** Returns undefined if there was no response. */
async function ignoreNetworkErrors<T>(
  ask: () => Promise<Response<T>>,
): Promise<Response<T> | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    return undefined
  }
}

/** Returns the result of a recording on a server. */
async function transcribe(server: Server, sound: Uint8Array<ArrayBuffer>): Promise<unknown> {
  const body = audioForm(sound)
  const { body: uploaded } = await call<Uploaded>(server, '/v2/upload', { body })
  const json = { audio_url: uploaded.audio_url }
  const { body: created } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
  for (;;) {
    const { body: job } = await call<ReceivedJob>(server, `/v2/pre-recorded/${created.id}`)
    if (job.status === 'done') return timeless(job.result)
    assert.notEqual(job.status, 'error')
    await delay(50)
  }
}

/** A result without the time it took. */
function timeless(result: unknown): unknown {
  const { metadata, ...rest } = result as { metadata: Record<string, unknown> }
  const { transcription_time: _, ...lasting } = metadata
  return { ...rest, metadata: lasting }
}
