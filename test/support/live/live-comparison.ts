import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { call } from '../net/http-client.ts'
import { connect, openSession } from './clients/live-client.ts'
import { finalsOf, type LiveMessage, type LiveUtterance, ofType } from './clients/live-messages.ts'
import type { ReceivedMessages } from './clients/reconnecting-client.ts'
import { type LiveTestAudio, recordingOf } from './live-audio.ts'

type Server = { url: string; key: string }
type Result = {
  metadata: Record<string, number>
  transcription: { full_transcript: string; utterances: LiveUtterance[] }
  named_entity_recognition?: Envelope
  sentiment_analysis?: Envelope
  messages: string[]
}
type Envelope = { exec_time: number }
type Job = { status: string; error_code: number | null; result: Result | null }

/** The parts of a session that are the same however often it was disturbed. */
export type Transcript = {
  /** Finals, speech events and add-on results of finals, of each channel. */
  channels: { finals: unknown[]; events: unknown[]; found: unknown[] }[]
  transcription: unknown
  addOns: unknown
  metadata: Record<string, number>
}

/**
 * Returns the transcript of an undisturbed session: its client sends everything at once and stays
 * to the end.
 */
export async function transcribeUndisturbed(
  server: Server,
  audio: LiveTestAudio,
  params: Record<string, unknown>,
): Promise<Transcript> {
  const { id, url } = await openSession(server, { ...params, ...audio.params })
  const client = await connect(url)
  for (let at = 0; at < audio.audio.length; at += 2 ** 20) {
    client.send(audio.audio.subarray(at, at + 2 ** 20))
  }
  client.stop()
  assert.equal((await client.closed).code, 1000)
  const result = (await jobOf(server, id)).result!
  const { transcription, metadata } = result
  return {
    channels: byChannel(client.messages, audio.params.channels),
    transcription,
    addOns: addOnsOf(result),
    metadata: timeless(metadata),
  }
}

/** Returns the job of a session. */
export async function jobOf(server: Server, id: string): Promise<Job> {
  const { status, body } = await call<Job>(server, `/v2/live/${id}`)
  assert.equal(status, 200)
  return body
}

/** Resolves when the job of a session is done; a job that failed is an error. */
export async function untilDone(server: Server, id: string): Promise<void> {
  for (;;) {
    const { status, error_code } = await jobOf(server, id)
    assert.notEqual(status, 'error', `the session failed with ${error_code}`)
    if (status === 'done') return
    await delay(20)
  }
}

type Session = { id: string; audio: LiveTestAudio; expected: Transcript }

/** Checks a disturbed session against an undisturbed one; returns its messages. */
export async function assertSame(
  server: Server,
  { id, audio, expected }: Session,
): Promise<string[]> {
  const { status, result } = await jobOf(server, id)
  assert.equal(status, 'done')
  const headers = { 'x-service-key': server.key }
  const file = await fetch(`${server.url}/v2/live/${id}/file`, { headers })
  const recording = Buffer.from(await file.arrayBuffer())
  const wanted = recordingOf(audio)
  assert.equal(recording.length, wanted.length, 'length of the recording')
  assert.ok(recording.equals(wanted), 'the recording is what was sent')

  const { transcription, metadata, messages: texts } = result!
  assert.deepEqual(transcription, expected.transcription)
  assert.deepEqual(timeless(metadata), expected.metadata)
  assert.deepEqual(addOnsOf(result!), expected.addOns)
  const messages = texts.map((text) => JSON.parse(text) as LiveMessage)
  assert.deepEqual(byChannel(messages, audio.params.channels), expected.channels)
  assertOrder(messages, result!)
  return texts
}

/**
 * Checks the messages that the client of a session received against those of its result. Returns
 * how many arrived more than once, which is allowed for those not confirmed before a cut.
 */
export function assertReceived(received: ReceivedMessages, texts: readonly string[]): number {
  assert.deepEqual(received.gaps, [], 'acks go on where the one before ended')
  // Refusals may come when the result already exists.
  const known = new Set(texts)
  const isRefusal = (text: string) => text.includes('"acknowledged":false')
  const foreign = received.texts.filter((text) => !known.has(text) && !isRefusal(text))
  assert.deepEqual(foreign, [], 'every received message is in the result')

  const lasting = [...new Set(received.texts)].filter((text) => isLasting(JSON.parse(text)))
  const all = texts.filter((text) => isLasting(JSON.parse(text)))
  const isWhole = received.closes.at(-1)?.code === 1000
  assert.deepEqual(lasting, isWhole ? all : all.slice(0, lasting.length), 'in order, none left out')
  assertPartials(received.messages)
  return received.texts.length - new Set(received.texts).size - equalAcks(received.texts)
}

/** Counts repeated acks: two keep-alives in the same millisecond have the same ack. */
function equalAcks(texts: readonly string[]): number {
  const acks = texts.filter((text) => text.includes('"type":"audio_chunk"'))
  return acks.length - new Set(acks).size
}

/**
 * Returns whether a client gets a message even if it was disconnected when the message was sent.
 */
function isLasting(message: LiveMessage): boolean {
  if (message.type === 'transcript') return message.data.is_final
  return message.type !== 'audio_chunk' && message.type !== 'stop_recording'
}

/** Checks that a partial never follows its final. */
function assertPartials(messages: readonly LiveMessage[]): void {
  const ended = new Set<string>()
  for (const { data } of ofType(messages, 'transcript')) {
    if (data.is_final) ended.add(data.id)
    else assert.ok(!ended.has(data.id), `a partial of ${data.id} after its final`)
  }
}

/** Checks the order that the API documents, and that the messages at the end equal the result. */
function assertOrder(messages: readonly LiveMessage[], result: Result): void {
  const once = messages.filter((message) => {
    const isOften = message.type === 'transcript' || message.type.startsWith('speech')
    // Only a session with a callback has the last one.
    const isSeldom = isFinding(message) || (message.type as string) === 'start_session'
    return isLasting(message) && !isOften && !isSeldom
  })
  assert.deepEqual(
    once.map((message) => (message.type === 'error' ? JSON.stringify(message) : message.type)),
    ['start_recording', 'end_recording', 'post_transcript', 'post_final_transcript', 'end_session'],
  )
  const types = messages.filter(isLasting).map(({ type }) => type)
  assert.equal(types.lastIndexOf('end_recording'), types.length - 4, 'all finals come before')
  const [stop] = ofType(messages, 'stop_recording').filter(({ acknowledged }) => acknowledged)
  assert.ok(stop && messages.indexOf(stop) < messages.indexOf(once[1]!))
  const { messages: _, ...whole } = result
  assert.deepEqual(ofType(messages, 'post_final_transcript')[0]!.data, whole)
  assert.deepEqual(ofType(messages, 'post_transcript')[0]!.data, whole.transcription)
}

function byChannel(messages: readonly LiveMessage[], channels: number): Transcript['channels'] {
  return Array.from({ length: channels }, (_, channel) => {
    const finals = finalsOf(messages)
      .filter(({ data }) => data.utterance.channel === channel)
      .map(({ data }) => data)
    const events = messages.flatMap((message) => {
      const isEvent = message.type === 'speech_start' || message.type === 'speech_end'
      return isEvent && message.data.channel === channel ? [[message.type, message.data.time]] : []
    })
    const found = messages.filter(isFinding).flatMap(({ type, data }) => {
      const { utterance_id, utterance, results } = data as Found
      return utterance.channel === channel ? [{ utterance_id, type, results }] : []
    })
    // Add-ons may answer in any order.
    found.sort((a, b) => (a.utterance_id + a.type < b.utterance_id + b.type ? -1 : 1))
    return { finals, events, found }
  })
}

type Finding = LiveMessage & { type: 'named_entity_recognition' | 'sentiment_analysis' }
type Found = { utterance_id: string; utterance: LiveUtterance; results: unknown[] }

function isFinding(message: LiveMessage): message is Finding {
  return message.type === 'named_entity_recognition' || message.type === 'sentiment_analysis'
}

/** Returns the add-on results of a session, without their execution times. */
function addOnsOf({ named_entity_recognition, sentiment_analysis }: Result) {
  const all = [named_entity_recognition, sentiment_analysis]
  return all.map((envelope) => envelope && { ...envelope, exec_time: 0 })
}

/** Removes measured times, which differ from run to run. */
function timeless({ transcription_time: _, ...metadata }: Record<string, number>) {
  return metadata
}
