import assert from 'node:assert/strict'
import type { Arrival } from './unreliable-receiver.ts'

/** The path of account webhooks at each receiver; all other paths are callbacks. */
export const WEBHOOK_PATH = '/webhook'

/** An event as its receiver got it, however often it arrived. */
export type ReceivedEvent = Pick<Arrival, 'id' | 'method' | 'path' | 'body'> & {
  isTaken: boolean
  arrivals: Arrival[]
}

/** All events of one job at one receiver, by callback or by webhook. */
export type ReceivedSequence = { jobId: string; isWebhook: boolean; events: ReceivedEvent[] }

/** Sorts arrivals into sequences, whose events must arrive in order, and checks that they did. */
export function readSequences(arrivals: readonly Arrival[]): ReceivedSequence[] {
  const sequences = new Map<string, ReceivedSequence>()
  for (const arrival of arrivals.toSorted((a, b) => a.begun - b.begun)) {
    const isWebhook = arrival.path === WEBHOOK_PATH
    const reported = JSON.parse(arrival.body) as { id: string; payload: { id: string } }
    const jobId = isWebhook ? reported.payload.id : reported.id
    const key = `${jobId} ${isWebhook}`
    const sequence = sequences.get(key) ?? { jobId, isWebhook, events: [] }
    sequences.set(key, sequence)
    add(sequence, arrival)
  }
  return [...sequences.values()]
}

function add({ jobId, events }: ReceivedSequence, arrival: Arrival): void {
  const { id, method, path, body, begun, taken } = arrival
  const last = events.at(-1)
  if (last?.id === id) {
    const { id: _, isTaken: __, arrivals, ...sent } = last
    assert.deepEqual({ method, path, body }, sent, `${jobId}: an event is the same each time`)
    arrivals.push(arrival)
    last.isTaken ||= taken !== undefined
    return
  }
  const isRepeated = events.some((event) => event.id === id)
  assert.ok(!isRepeated, `${jobId}: ${body} came again after the one after it`)
  if (last) {
    const isInTurn = last.arrivals.some(({ taken = Number.POSITIVE_INFINITY }) => taken < begun)
    assert.ok(isInTurn, `${jobId}: ${body} came before ${last.body} had been taken`)
  }
  events.push({ id, method, path, body, isTaken: taken !== undefined, arrivals: [arrival] })
}

/** A job, or session, in the form of the API. */
export type ReceivedJob = {
  id: string
  kind: 'pre-recorded' | 'live'
  status: 'queued' | 'processing' | 'done' | 'error'
  completed_at: string | null
  error_code: number | null
  custom_metadata: { n: number }
  post_session_metadata: { failure?: { message: string } }
  result: { messages?: string[] } | null
}

/**
 * Returns the bodies that the callback of a job must have, in order. Those of a session are all its
 * messages.
 */
export function callbackBodies(job: ReceivedJob): string[] {
  const { id, kind, status, custom_metadata, result } = job
  if (kind === 'live') {
    return result!.messages!.map((message) => {
      const { type } = JSON.parse(message) as { type: string }
      return `{"id":"${id}","event":"live.${type}","payload":${message}}`
    })
  }
  if (status === 'done') {
    const event = 'transcription.success'
    return [JSON.stringify({ id, event, payload: result, custom_metadata })]
  }
  const error = { code: job.error_code, message: job.post_session_metadata.failure!.message }
  return [JSON.stringify({ id, event: 'transcription.error', error, custom_metadata })]
}

/** Returns the bodies that an account webhook must have for a job, in order. */
export function webhookBodies({ id, kind, status }: ReceivedJob): string[] {
  const end = status === 'done' ? 'success' : 'error'
  const events =
    kind === 'live'
      ? ['start_session', 'start_recording', 'end_recording', 'end_session'].map((e) => `live.${e}`)
      : ['transcription.created', `transcription.${end}`]
  return events.map((event) => JSON.stringify({ event, payload: { id } }))
}
