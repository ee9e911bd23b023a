import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { createToneWav } from '../audio/recordings.ts'
import { SOURCE_PATH, type UnreliableReceiver } from '../delivery/unreliable-receiver.ts'
import type { OpenedSession } from '../live/clients/live-client.ts'
import {
  type ReconnectingClient,
  startReconnectingClient,
} from '../live/clients/reconnecting-client.ts'
import { makeLiveAudio, streamOf } from '../live/live-audio.ts'
import { randomClient } from '../live/random-client.ts'
import { call, upload } from '../net/http-client.ts'
import type { ChildServer } from '../server/child-server.ts'

/** The request of the n-th creation. */
export type RequestKind = {
  kind: 'pre-recorded' | 'live'
  method: 'POST' | 'PUT'
  receiver: number
}

/** A client that creates jobs and sessions with callbacks, and deletes some of them. */
export type BusyAccount = {
  /** All requests, by the number in their metadata; the response may have been lost. */
  wishes: RequestKind[]
  /** Ids of jobs whose creation was answered with 201, with their numbers. */
  accepted: Map<string, number>
  /** Ids of jobs for which a deletion was requested. */
  requested: Set<string>
  /**
   * Ids of deletions answered with 202, with the place in each receiver's log after which it must
   * get no event of the job.
   */
  deleted: Map<string, number[]>
  /** The clients of all sessions. */
  clients: ReconnectingClient[]
  /** Performs one random action; rejects when the server does not answer. */
  act(server: ChildServer): Promise<void>
}

export type BusyAccountOptions = {
  receivers: readonly UnreliableReceiver[]
  random: () => number
  maxSessions: number
  /**
   * Whether recordings are also fetched, and with add-ons; otherwise all are uploaded and plain.
   */
  isVaried?: boolean
}

/** The address guard refuses it: the job fails at once. */
const NOWHERE = 'http://10.255.0.1/talk.wav'

/** Parameters of recorded jobs of several kinds. */
const kinds = [
  {},
  { sentences: true, subtitles: true, subtitles_config: { formats: ['srt', 'vtt'] } },
  { custom_spelling: true, custom_spelling_config: { spelling_dictionary: { Two: ['two'] } } },
  { sentiment_analysis: true, named_entity_recognition: true },
]

const flags = [
  'partial_transcripts',
  'final_transcripts',
  'speech_events',
  'pre_processing_events',
  'realtime_processing_events',
  'post_processing_events',
  'acknowledgments',
  'errors',
  'lifecycle_events',
]
const everything = Object.fromEntries(flags.map((flag) => [`receive_${flag}`, true]))

/** Creates an account without any actions yet. */
export function createBusyAccount(options: BusyAccountOptions): BusyAccount {
  const { receivers, random, maxSessions, isVaried = false } = options
  const wishes: RequestKind[] = []
  const accepted = new Map<string, number>()
  const requested = new Set<string>()
  const deleted = new Map<string, number[]>()
  const clients: ReconnectingClient[] = []

  /** Counts a request before it is sent: a creation whose answer is lost may exist. */
  function request(kind: RequestKind['kind']) {
    const n = wishes.length
    const receiver = Math.floor(random() * receivers.length)
    const method = kind === 'pre-recorded' && random() < 0.5 ? ('PUT' as const) : ('POST' as const)
    wishes.push({ kind, method, receiver })
    const url = `${receivers[receiver]!.url}/callback/${n}`
    return { n, url, method, common: { callback: true, custom_metadata: { n } } }
  }

  async function createJob(server: ChildServer): Promise<void> {
    const isBad = random() < 0.2
    const hasLocalAudio = isVaried && !isBad && random() < 0.3
    const source = hasLocalAudio ? receivers[0]!.url + SOURCE_PATH : NOWHERE
    const audio_url =
      isBad || hasLocalAudio ? source : await upload(server, createToneWav(1 + 4 * random()))
    const params = isVaried ? kinds[Math.floor(random() * kinds.length)] : {}
    const { n, url, method, common } = request('pre-recorded')
    const json = { audio_url, ...params, ...common, callback_config: { url, method } }
    const { status, body } = await call<{ id: string }>(server, '/v2/pre-recorded', { json })
    assert.equal(status, 201, JSON.stringify(body))
    accepted.set(body.id, n)
  }

  async function openSession(server: ChildServer): Promise<void> {
    const { n, url, common } = request('live')
    const audio = makeLiveAudio(random, { seconds: 1 + 3 * random() })
    const callback_config = { url, ...everything }
    const json = { ...audio.params, ...common, callback_config, messages_config: everything }
    const { status, body } = await call<OpenedSession>(server, '/v2/live', { json })
    assert.equal(status, 201, JSON.stringify(body))
    accepted.set(body.id, n)
    const manner = { ...randomClient(random, audio), random }
    clients.push(startReconnectingClient({ url: body.url, stream: streamOf(audio), ...manner }))
  }

  /**
   * Deletes a recent job as soon as it has ended, while many of its events are still to be
   * delivered.
   */
  async function remove(server: ChildServer): Promise<void> {
    const late = [...accepted.keys()].filter((id) => !requested.has(id)).slice(-5)
    const id = late[Math.floor(random() * late.length)]
    if (!id) return
    const isLive = wishes[accepted.get(id)!]!.kind === 'live'
    requested.add(id)
    for (;;) {
      const status: number = await deleteJob(server, id)
      if (status === 202) break
      assert.equal(status, 403, 'what has not ended cannot be deleted')
      // A session may last longer than its server.
      if (isLive) return
      await delay(5)
    }
    deleted.set(id, await Promise.all(receivers.map((receiver) => receiver.place())))
  }

  return {
    wishes,
    accepted,
    requested,
    deleted,
    clients,
    async act(server) {
      const dice = random()
      if (dice < 0.25) await remove(server)
      else if (dice < 0.45 && clients.length < maxSessions) await openSession(server)
      else await createJob(server)
    },
  }
}

async function deleteJob(server: ChildServer, id: string): Promise<number> {
  return (await call(server, `/v2/transcription/${id}`, { method: 'DELETE' })).status
}
