/**
 * Measures latency, accuracy and processor time of live sessions, from one concurrent session to
 * the capacity of the machine: a line for each number of sessions until a limit breaks, or for each
 * `--sessions N`. `--no-partials` requests finals only. `--translate` repeats each number of
 * sessions with translations of finals and partials, from a fake model server, so that one run
 * compares both. Clients send recorded speech in real time, with different offsets. Latencies count
 * from the sending of a sample: the one at the first word of the reference, and the one at
 * `speech_end`. Processor seconds are per second of one session's audio.
 */
import { loadavg } from 'node:os'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { percentile } from '../../src/cli/live/live-latency.ts'
import { readConfig } from '../../src/config/config.ts'
import { wordErrors } from '../../test/support/asr/word-errors.ts'
import {
  type ChatCall,
  startChatProvider,
  textsToTranslate,
} from '../../test/support/llm/chat-provider.ts'
import { createRandom } from '../../test/support/random/random.ts'
import { report } from '../support/report.ts'
import { wavOf } from '../support/wav.ts'
import { type LiveBenchServer, startLiveServer } from './live-server.ts'
import { type ProcessorTime, readProcessorTime, usedPerSecond } from './processor-time.ts'
import { readSpeech, type Speech, seconds } from './speech.ts'
import { type Streamed, streamSpeech } from './stream.ts'

const COUNTS = [1, 4, 8, 12, 16, 20, 24, 32, 40, 48, 64]
/**
 * With one session, this many speeches are measured, so that the result does not depend on one
 * minute.
 */
const ALONE = 3
/** The limits of the design, in milliseconds. */
const LIMITS = { ack: 300, firstPartial: 500, finalAlone: 200, finalTogether: 500 }
/** The default of the API. */
const ENDPOINTING_SECONDS = 0.05
/** Sessions start within this many seconds. */
const SPREAD_SECONDS = 5
/** The response time of the fake model server, in milliseconds. */
const ANSWER_MS = 300

const { values: options } = parseArgs({
  strict: false,
  options: {
    sessions: { type: 'string', multiple: true, default: [] },
    'no-partials': { type: 'boolean', default: false },
    translate: { type: 'boolean', default: false },
  },
})
const sessionCounts = (options.sessions as string[]).map(Number)
const receive_partial_transcripts = !options['no-partials']
const translator = options.translate ? await startChatProvider(translateAll) : undefined
const translation = {
  translation: true,
  translation_config: { target_languages: ['fr'], partials: receive_partial_transcripts },
}
const waiting = (ENDPOINTING_SECONDS + readConfig(process.env).live.vadHangover) * 1000
const { corpus, speeches } = await readSpeech()
const server = await startLiveServer(
  translator && { STENO_LLM_URL: translator.url, STENO_LLM_MODEL: 'stand-in' },
)
await streamSpeech(server.client, speeches[0]!, { kind: 'fast' })
const fileTexts = await transcribeFiles(server)
for (const count of sessionCounts.length > 0 ? sessionCounts : COUNTS) {
  const outcomes = [await measure(count, { translates: false })]
  if (translator) outcomes.push(await measure(count, { translates: true }))
  if (outcomes.some(({ barsHeld }) => !barsHeld) && sessionCounts.length === 0) break
}
await server.stop()
translator?.close()

async function translateAll(call: ChatCall): Promise<string> {
  await sleep(ANSWER_MS)
  return JSON.stringify({ translations: textsToTranslate(call) })
}

type Variant = { translates: boolean }

async function measure(count: number, variant: Variant) {
  const before = readProcessorTime(server.pid)
  const recognized = await run(count, variant)
  const processorTime = timeOf(recognized, before)
  const outcome = { ...describe(count, recognized, variant), processorTime }
  report(outcome)
  return outcome
}

type Recognized = { speech: Speech; streamed: Streamed }

async function run(count: number, { translates }: Variant): Promise<Recognized[]> {
  // The same delays in both variants.
  const random = createRandom(2)
  const params = {
    messages_config: { receive_partial_transcripts },
    ...(translates && { realtime_processing: translation }),
  }
  const recognize = async (speech: Speech, delay: number): Promise<Recognized> => {
    return {
      speech,
      streamed: await streamSpeech(server.client, speech, { kind: 'live', delay, params }),
    }
  }
  if (count > 1) {
    const together = Array.from({ length: count }, (_, i) => {
      return recognize(speeches[i % speeches.length]!, random() * SPREAD_SECONDS)
    })
    return Promise.all(together)
  }
  const alone: Recognized[] = []
  for (const speech of speeches.slice(0, ALONE)) alone.push(await recognize(speech, 0))
  return alone
}

function timeOf(recognized: readonly Recognized[], before: ProcessorTime): ProcessorTime {
  const audioSeconds = recognized.reduce((sum, { speech }) => sum + seconds(speech.samples), 0)
  return usedPerSecond(before, readProcessorTime(server.pid), audioSeconds)
}

function describe(count: number, recognized: readonly Recognized[], { translates }: Variant) {
  const all = (pick: (streamed: Streamed) => number[]) =>
    recognized.flatMap((h) => pick(h.streamed))
  const sum = (pick: (streamed: Streamed) => number) => {
    return recognized.reduce((total, h) => total + pick(h.streamed), 0)
  }
  const acks = all((s) => s.acks)
  const firstPartials = all((s) => s.firstPartials)
  const finals = all((s) => s.finals)
  const finalP95 = percentile(finals, 0.95)! - waiting
  const ack = { p50: percentile(acks, 0.5), p99: percentile(acks, 0.99)! }
  const firstPartial = {
    p50: percentile(firstPartials, 0.5),
    p95: percentile(firstPartials, 0.95)!,
  }
  return {
    bench: 'live',
    corpus,
    partials: receive_partial_transcripts,
    sessions: count,
    ackMs: ack,
    firstPartialMs: { ...firstPartial, of: firstPartials.length },
    finalMs: { p50: percentile(finals, 0.5), p95: percentile(finals, 0.95), of: finals.length },
    finalBeyondEndpointingMs: { p50: percentile(finals, 0.5)! - waiting, p95: finalP95 },
    partialsPerMinute: sum((s) => s.partials) / recognized.length,
    partialWordsTakenBack: sum((s) => s.takenBack) / sum((s) => s.partialWords),
    wer: werOf(recognized.map(({ speech, streamed }) => [speech.transcript, streamed.text])),
    fileWer: werOf(recognized.map(({ speech }) => [speech.transcript, fileTexts.get(speech)!])),
    losses: sum((s) => s.losses),
    ...(translates && { translations: describeTranslations(recognized) }),
    load: loadavg()[0],
    barsHeld:
      ack.p99 <= LIMITS.ack &&
      (firstPartials.length === 0 || firstPartial.p95 <= LIMITS.firstPartial) &&
      finalP95 <= (count === 1 ? LIMITS.finalAlone : LIMITS.finalTogether),
  }
}

function describeTranslations(recognized: readonly Recognized[]) {
  const all = recognized.map(({ streamed }) => streamed.translated)
  const delays = all.flatMap((one) => one.delays)
  const sum = (name: 'partials' | 'failed') => all.reduce((total, one) => total + one[name], 0)
  return {
    afterFinalMs: {
      p50: percentile(delays, 0.5),
      p95: percentile(delays, 0.95),
      of: delays.length,
    },
    partials: sum('partials'),
    failed: sum('failed'),
  }
}

function werOf(pairs: readonly (readonly [reference: string, hypothesis: string])[]): number {
  const counted = pairs.map(([reference, hypothesis]) => wordErrors(reference, hypothesis))
  const total = (pick: 'errors' | 'referenceWords') => counted.reduce((n, c) => n + c[pick], 0)
  return total('errors') / total('referenceWords')
}

/** Recognizes the same audio as recordings, with the same server. */
async function transcribeFiles({ client }: LiveBenchServer): Promise<Map<Speech, string>> {
  const texts = new Map<Speech, string>()
  for (const speech of speeches) {
    const open = async () => Readable.from([wavOf(speech.samples)])
    const id = await client.create({ audio_url: await client.upload({ filename: 'a.wav', open }) })
    const { result } = await client.wait(id, () => {})
    texts.set(speech, result?.transcription.full_transcript ?? '')
  }
  return texts
}
