import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../errors.ts'
import type { Client } from '../client/client.ts'
import { bytesPerSecond } from '../live/live-api-types.ts'
import type { LiveAudioSource } from '../live/live-audio.ts'
import { LiveConnection } from '../live/live-connection.ts'
import { createLatencyWatch, type Latencies, percentile } from '../live/live-latency.ts'

/**
 * Limits of the latencies, in milliseconds: acknowledgments at the 99th percentile, first partials
 * and finals at the 95th. Finals include the silence that ends an utterance, 300 ms by default.
 */
export const LIMITS = { ack: 300, firstPartial: 500, finalAlone: 500, finalTogether: 800 } as const

/** The latencies of concurrent sessions; undefined if no such message arrived. */
export type LiveLoad = {
  sessions: number
  ackMs: number | undefined
  firstPartialMs: number | undefined
  finalMs: number | undefined
  isInTime: boolean
  /** Why the server refused one of the sessions, or ended it. */
  refusal?: string
}

/** Options of a measurement. If `signal` ends it early, its result is meaningless. */
export type LiveLoadOptions = {
  sessions: number
  seconds: number
  wantsPartials: boolean
  signal: AbortSignal
}

/** The recording to stream in a loop, and the server. */
type MeasurementTarget = { audio: LiveAudioSource; client: Pick<Client, 'createLive'> }

/**
 * Sessions start at equal intervals within this time, so that they do not all speak and pause
 * together.
 */
const SPREAD_SECONDS = 3

/** Streams the recording in concurrent sessions, and measures the latencies of their clients. */
export async function measureLiveLoad(
  target: MeasurementTarget,
  options: LiveLoadOptions,
): Promise<LiveLoad> {
  const { sessions, wantsPartials } = options
  const outcomes = await Promise.allSettled(
    Array.from({ length: sessions }, (_, i) => {
      return streamSession(target, { ...options, delay: (i * SPREAD_SECONDS) / sessions })
    }),
  )
  const measured = outcomes.flatMap((outcome) =>
    outcome.status === 'fulfilled' ? [outcome.value] : [],
  )
  const all = (kind: keyof Latencies) => measured.flatMap((latencies) => latencies[kind])
  const ackMs = percentile(all('acks'), 0.99)
  const firstPartialMs = percentile(all('firstPartials'), 0.95)
  const finalMs = percentile(all('finals'), 0.95)
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  const finalLimit = sessions === 1 ? LIMITS.finalAlone : LIMITS.finalTogether
  const isInTime =
    failed === undefined &&
    isWithin(ackMs, LIMITS.ack) &&
    (!wantsPartials || isWithin(firstPartialMs, LIMITS.firstPartial)) &&
    isWithin(finalMs, finalLimit)
  const latencies = { sessions, ackMs, firstPartialMs, finalMs, isInTime }
  return failed ? { ...latencies, refusal: messageOf(failed.reason) } : latencies
}

function isWithin(value: number | undefined, limit: number): boolean {
  return value !== undefined && value <= limit
}

/** Streams one session of `seconds`; rejects if it does not end normally. */
async function streamSession(
  { audio, client }: MeasurementTarget,
  { seconds, delay, wantsPartials, signal }: LiveLoadOptions & { delay: number },
): Promise<Latencies> {
  await sleep(delay * 1000, undefined, { signal })
  const { url } = await client.createLive({
    ...audio.format,
    messages_config: { receive_partial_transcripts: wantsPartials },
  })
  const perSecond = bytesPerSecond(audio.format)
  const watch = createLatencyWatch(perSecond)
  const ended = new AbortController()
  const live = LiveConnection.connect(url, {
    onMessage: (message, at) => watch.received(message, at),
    onLost: () => ended.abort(),
  })
  void live.ended.then(() => ended.abort())
  const over = AbortSignal.any([ended.signal, signal])
  let sent = 0
  while (sent < seconds * perSecond && !over.aborted) {
    const before = sent
    for await (const chunk of audio.chunks(over)) {
      sent += chunk.length
      watch.sent(sent, performance.now())
      await live.send(chunk)
      if (sent >= seconds * perSecond) break
    }
    if (sent === before) break
  }
  if (signal.aborted) live.close()
  else live.stop()
  const { code, reason } = await live.ended
  if (code !== 1000) throw new Error(`a session ended with ${code} ${reason}`.trim())
  return watch.latencies
}
