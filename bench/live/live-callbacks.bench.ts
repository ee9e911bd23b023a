/**
 * Measures the latency of live sessions with callbacks of all events and, alternately, without
 * callbacks: it must not change by more than a tenth. The receiver is a separate process on
 * loopback.
 */
import { percentile } from '../../src/cli/live/live-latency.ts'
import { createRandom } from '../../test/support/random/random.ts'
import { report } from '../support/report.ts'
import { serve } from '../support/served.ts'
import { startLiveServer } from './live-server.ts'
import { readSpeech } from './speech.ts'
import { type Streamed, streamSpeech } from './stream.ts'

const ROUNDS = 3
/** Concurrent sessions: half of the capacity of a machine with two cores. */
const SESSIONS = 4
/** Sessions start within this many seconds. */
const SPREAD_SECONDS = 5
const MAX_RATIO = 1.1

const flags = [
  'partial_transcripts',
  'final_transcripts',
  'speech_events',
  'realtime_processing_events',
  'post_processing_events',
  'acknowledgments',
  'errors',
  'lifecycle_events',
]
const everything = Object.fromEntries(flags.map((flag) => [`receive_${flag}`, true]))

const { corpus, speeches } = await readSpeech()
const receiver = await serve(new URL('receiver-process.ts', import.meta.url))
const server = await startLiveServer()
const random = createRandom(2)
const callback_config = { url: `${receiver.url}/live`, ...everything }
await streamSpeech(server.client, speeches[0]!, { kind: 'fast' })

const without: Streamed[] = []
const reported: Streamed[] = []
for (let round = 0; round < ROUNDS; round++) {
  const delays = Array.from({ length: SESSIONS }, () => random() * SPREAD_SECONDS)
  // The order alternates, so that warm-up affects both equally.
  const turns = [() => run(delays, {}), () => run(delays, { callback: true, callback_config })]
  const isSwapped = round % 2 === 1
  const [first, second] = isSwapped ? turns.toReversed() : turns
  const [one, other] = [await first!(), await second!()]
  without.push(...(isSwapped ? other : one))
  reported.push(...(isSwapped ? one : other))
}
const { received } = (await (await fetch(`${receiver.url}/received`)).json()) as {
  received: number
}
await server.stop()
await receiver.stop()

const [withoutCallback, withCallback] = [describe(without), describe(reported)]
const ratio = {
  ackP50: withCallback.ackMs.p50 / withoutCallback.ackMs.p50,
  ackP99: withCallback.ackMs.p99 / withoutCallback.ackMs.p99,
  firstPartialP50: withCallback.firstPartialMs.p50 / withoutCallback.firstPartialMs.p50,
  firstPartialP95: withCallback.firstPartialMs.p95 / withoutCallback.firstPartialMs.p95,
  finalP50: withCallback.finalMs.p50 / withoutCallback.finalMs.p50,
  finalP95: withCallback.finalMs.p95 / withoutCallback.finalMs.p95,
}
report({
  bench: 'live-callbacks',
  corpus,
  sessions: SESSIONS,
  rounds: ROUNDS,
  without: withoutCallback,
  withCallback,
  ratio,
  received,
  /**
   * For acknowledgments, only noticeable changes count: a few milliseconds are a large share of
   * their latency.
   */
  barsHeld:
    Math.max(ratio.firstPartialP50, ratio.finalP50) <= MAX_RATIO &&
    withCallback.ackMs.p99 - withoutCallback.ackMs.p99 <= 20,
})

function run(delays: readonly number[], params: Record<string, unknown>): Promise<Streamed[]> {
  const sessions = delays.map((delay, i) => {
    const speech = speeches[i % speeches.length]!
    return streamSpeech(server.client, speech, { kind: 'live', delay, params })
  })
  return Promise.all(sessions)
}

function describe(streamed: readonly Streamed[]) {
  const [acks, firsts, finals] = [
    streamed.flatMap((s) => s.acks),
    streamed.flatMap((s) => s.firstPartials),
    streamed.flatMap((s) => s.finals),
  ]
  return {
    ackMs: { p50: percentile(acks, 0.5)!, p99: percentile(acks, 0.99)! },
    firstPartialMs: { p50: percentile(firsts, 0.5)!, p95: percentile(firsts, 0.95)! },
    finalMs: { p50: percentile(finals, 0.5)!, p95: percentile(finals, 0.95)! },
  }
}
