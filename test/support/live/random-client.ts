import type { ReconnectingClientOptions } from './clients/reconnecting-client.ts'
import type { LiveTestAudio } from './live-audio.ts'

type Random = () => number

/** Returns random parameters of a session, besides its format. */
export function randomParams(random: Random): Record<string, unknown> {
  return {
    endpointing: random() < 0.5 ? 0.05 : 0.05 + random(),
    maximum_duration_without_endpointing: 5 + Math.floor(random() * 5),
    realtime_processing: {
      named_entity_recognition: random() < 0.5,
      sentiment_analysis: random() < 0.5,
      diarization: random() < 0.5,
    },
    messages_config: {
      receive_partial_transcripts: random() < 0.5,
      receive_lifecycle_events: true,
    },
  }
}

/**
 * Returns how a client sends and reconnects: a stream has some hundred chunks, and none is larger
 * than a frame may be, in base64.
 */
export function randomClient(
  random: Random,
  { audio, hasHeader }: LiveTestAudio,
): Pick<
  ReconnectingClientOptions,
  'resend' | 'chunkBytes' | 'first' | 'window' | 'lostConnections'
> {
  const usual = Math.min(350_000, audio.length / (5 + 200 * random()))
  const chunkBytes = () => Math.ceil(16 + 2 * usual * random())
  const dice = random()
  // As the SDK does it, scaled to a stream that is shorter than an hour, or whole.
  const scaled = Math.ceil(audio.length * (0.002 + random() ** 3))
  const resend = dice < 0.3 ? 512 * 1024 : dice < 0.65 ? Math.min(scaled, 500_000) : 'one frame'
  return {
    resend,
    chunkBytes,
    lostConnections: Math.floor(4 * random()),
    // Less than a header, so that it arrives in pieces.
    ...(hasHeader && random() < 0.6 && { first: [5 + random() * 9, 12, 9].map(Math.floor) }),
    ...(random() < 0.4 && { window: Math.ceil(1 + usual * 10 * random()) }),
  }
}

/** Rejects when `promise` takes longer. */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`not within ${milliseconds} ms`)),
    milliseconds,
  )
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
