import { parseJson } from '../live-session.ts'

/** A track of a call: what the caller says, and what is played to the caller. */
export type TrackName = 'inbound' | 'outbound'

/** A message of a media stream. */
export type StreamMessage =
  | { event: 'start'; callId: string; streamId: string; tracks: TrackName[] }
  | { event: 'media'; track: TrackName; ms: number | undefined; audio: Buffer }
  | { event: 'stop' }
  | { event: 'other' }

/** A stream that this program cannot read. */
export class StreamError extends Error {}

type Fields = Record<string, unknown>

const trackNames: readonly TrackName[] = ['inbound', 'outbound']

/**
 * Reads a message; throws `StreamError`. `connected`, `mark`, `dtmf` and unknown ones are `other`.
 */
export function readMessage(text: string): StreamMessage {
  const message = asFields(parseJson(text))
  const { event } = message
  if (typeof event !== 'string') throw new StreamError('A message is not JSON with an event')
  if (event === 'stop') return { event }
  if (event === 'start') return readStart(asFields(message.start), message)
  if (event === 'media') return readMedia(asFields(message.media))
  return { event: 'other' }
}

function readStart(start: Fields, { streamSid }: Fields): StreamMessage {
  const { encoding, sampleRate, channels } = asFields(start.mediaFormat)
  const isKnown = encoding === 'audio/x-mulaw' && Number(sampleRate) === 8000
  if (!isKnown || Number(channels ?? 1) !== 1) {
    throw new StreamError('The stream is no audio/x-mulaw of 8000 Hz with one channel')
  }
  const given = Array.isArray(start.tracks) ? (start.tracks as unknown[]) : ['inbound']
  const tracks = trackNames.filter((name) => given.includes(name))
  if (tracks.length === 0) throw new StreamError('The stream has no track')
  const callId = String(start.callSid ?? '')
  return { event: 'start', callId, streamId: String(start.streamSid ?? streamSid ?? ''), tracks }
}

function readMedia({ track = 'inbound', timestamp, payload }: Fields): StreamMessage {
  const name = trackNames.find((one) => one === track)
  if (!name || typeof payload !== 'string') throw new StreamError('A media message has no payload')
  const ms = timestamp === undefined ? Number.NaN : Number(timestamp)
  const audio = Buffer.from(payload, 'base64')
  return { event: 'media', track: name, ms: ms >= 0 ? ms : undefined, audio }
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
