import { setTimeout as sleep } from 'node:timers/promises'
import { LiveConnection } from '../../../src/cli/live/live-connection.ts'
import { createLatencyWatch } from '../../../src/cli/live/live-latency.ts'
import { readSamples } from '../attacks/speech.ts'
import type { VictimReceiver } from './receiver.ts'
import { jsonPost, type Requests } from './requests.ts'

/** The outcome of one session. */
export type SessionOutcome = {
  /**
   * 1000 on success; the status of its creation when it was refused; 0 when it did not end in time.
   */
  code: number
  /** Milliseconds from the end of speech to its final. */
  finals: number[]
  /** Words of all finals. */
  words: number
  /** Bytes that were acknowledged and are not in the recording. */
  lostBytes: number
  /** Finals without a callback. */
  missingCallbacks: number
  losses: number
}

const BYTES_PER_SECOND = 32_000
const CHUNK_BYTES = 3200
/** The pause after which the speech repeats, in bytes. */
const PAUSE_BYTES = 48_000
/** The time in which a session must end after its last audio. */
const END_MS = 20_000
const CALLBACK_MS = 10_000

let sessions = 0

/** Sends speech in real time for `seconds`, in one session with partials and a callback. */
export async function speakLive(
  requests: Requests,
  { seconds, receiver }: { seconds: number; receiver: VictimReceiver },
): Promise<SessionOutcome> {
  const path = `/live/${sessions++}`
  const created = await requests.request('/v2/live', jsonPost(paramsOf(receiver.url + path)))
  const outcome = { code: created.status, finals: [] as number[], words: 0, lostBytes: 0 }
  const rest = { missingCallbacks: 0, losses: 0 }
  if (created.status !== 201) return { ...outcome, ...rest }
  const { id, url } = JSON.parse(created.text) as { id: string; url: string }
  const watch = createLatencyWatch(BYTES_PER_SECOND)
  let [acked, finals] = [0, 0]
  const live = LiveConnection.connect(url, {
    onMessage(message, at) {
      watch.received(message, at)
      if (message.type === 'audio_chunk' && message.data?.byte_range) {
        acked = message.data.byte_range[1]
      }
      if (message.type !== 'transcript' || !message.data.is_final) return
      finals++
      outcome.words += message.data.utterance.words.length
    },
    onLost: () => void rest.losses++,
  })
  await speak(live, seconds, watch.sent)
  live.stop()
  const late = sleep(END_MS).then(() => ({ code: 0 }))
  outcome.code = (await Promise.race([live.ended, late])).code
  live.close()
  outcome.finals = watch.latencies.finals
  outcome.lostBytes = Math.max(0, acked - (await recordedBytes(requests, id)))
  rest.missingCallbacks = await missing(receiver, { path, finals })
  return { ...outcome, ...rest }
}

function paramsOf(url: string) {
  const callback_config = {
    url,
    receive_final_transcripts: true,
    receive_lifecycle_events: false,
    receive_realtime_processing_events: false,
    receive_post_processing_events: false,
  }
  const messages_config = { receive_partial_transcripts: true }
  return { messages_config, callback: true, callback_config }
}

async function speak(
  live: LiveConnection,
  seconds: number,
  onAudioGiven: (end: number, at: number) => void,
): Promise<void> {
  const speech = Buffer.concat([await readSamples(), pause()])
  const bytes = Math.round(seconds * BYTES_PER_SECOND)
  const started = performance.now()
  for (let at = 0; at < bytes; ) {
    const from = at % speech.length
    const chunk = speech.subarray(from, Math.min(from + CHUNK_BYTES, speech.length))
    at += chunk.length
    const due = started + (at / BYTES_PER_SECOND) * 1000 - performance.now()
    if (due > 0) await sleep(due)
    onAudioGiven(at, performance.now())
    // A speaker does not wait for the server.
    void live.send(chunk)
  }
}

/** Returns noise 80 dB below full scale, since microphones do not record digital silence. */
function pause(): Buffer {
  const samples = Int16Array.from({ length: PAUSE_BYTES / 2 }, (_, n) => ((n * 7919) % 13) - 6)
  return Buffer.from(samples.buffer)
}

/** Returns the bytes of audio in the recording of a session. */
async function recordedBytes({ request }: Requests, id: string): Promise<number> {
  const job = await request(`/v2/live/${id}`)
  if (job.status !== 200) return 0
  const { file } = JSON.parse(job.text) as { file: { audio_duration: number | null } | null }
  return Math.round((file?.audio_duration ?? 0) * BYTES_PER_SECOND)
}

async function missing(
  { came }: VictimReceiver,
  { path, finals }: { path: string; finals: number },
): Promise<number> {
  const deadline = performance.now() + CALLBACK_MS
  const count = () => came.get(path)?.count ?? 0
  while (count() < finals && performance.now() < deadline) await sleep(100)
  return Math.max(0, finals - count())
}
