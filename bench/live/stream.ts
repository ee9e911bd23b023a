import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../src/cli/client/client.ts'
import type { LiveMessage, TranscriptMessage } from '../../src/cli/live/live-api-types.ts'
import { LiveConnection } from '../../src/cli/live/live-connection.ts'
import { createLatencyWatch, type Latencies } from '../../src/cli/live/live-latency.ts'
import { alignWords, comparableWords } from '../../test/support/asr/word-errors.ts'
import type { Speech } from './speech.ts'

/** The outcome of one session. */
export type Streamed = Latencies & {
  /** The finals, joined. */
  text: string
  /** Words of partials, and those of them that the next partial or the final retracted. */
  partialWords: number
  takenBack: number
  partials: number
  /** Lost connections. */
  losses: number
  translated: Translated
}

/**
 * Milliseconds from each final to its translation, and the numbers of translated partials and of
 * failures.
 */
export type Translated = { delays: number[]; partials: number; failed: number }

/**
 * The pace of the audio: in real time, in messages of 100 ms, after `delay` seconds, or as fast as
 * the server reads it.
 */
export type Pace = { kind: 'live'; delay: number } | { kind: 'fast' }

const BYTES_PER_SECOND = 32_000
const CHUNK_BYTES = 3200
/**
 * The longest distance between the start of speech and the reference word that starts it, in
 * seconds.
 */
const ONSET_TOLERANCE = 0.5

/** Streams one session until its end; `params` are its parameters besides partials. */
export async function streamSpeech(
  client: Client,
  { samples, words }: Speech,
  { params = {}, ...pace }: Pace & { params?: Record<string, unknown> },
): Promise<Streamed> {
  if (pace.kind === 'live') await sleep(pace.delay * 1000)
  const { url } = await client.createLive({
    messages_config: { receive_partial_transcripts: true },
    ...params,
  })
  const watch = createLatencyWatch(BYTES_PER_SECOND, { onsetOf })
  const texts = createTexts()
  const translated: Translated = { delays: [], partials: 0, failed: 0 }
  const finalAt = new Map<string, number>()
  let losses = 0
  const live = LiveConnection.connect(url, {
    onMessage(message, at) {
      watch.received(message, at)
      if (message.type === 'translation') addTranslation(message, at)
      if (message.type !== 'transcript') return
      texts.add(message.data)
      if (message.data.is_final) finalAt.set(message.data.id, at)
    },
    onLost: () => void losses++,
  })

  /** Without word times, the server's own time of the start of speech is used. */
  function onsetOf(time: number): number {
    const distance = (start: number) => Math.abs(start - time)
    const nearest = words.reduce<number | undefined>((best, { start }) => {
      return best === undefined || distance(start) < distance(best) ? start : best
    }, undefined)
    return nearest !== undefined && distance(nearest) < ONSET_TOLERANCE ? nearest : time
  }

  function addTranslation({ data }: Extract<LiveMessage, { type: 'translation' }>, at: number) {
    if (!data) translated.failed++
    else if (data.is_final === false) translated.partials++
    else translated.delays.push(at - finalAt.get(data.utterance_id)!)
  }

  const started = performance.now()
  for (let at = 0; at < samples.length; ) {
    const chunk = samples.subarray(at, at + CHUNK_BYTES)
    at += chunk.length
    const due = started + (at / BYTES_PER_SECOND) * 1000 - performance.now()
    if (pace.kind === 'live' && due > 0) await sleep(due)
    watch.sent(at, performance.now())
    await live.send(chunk)
  }
  live.stop()
  const { code, reason } = await live.ended
  if (code !== 1000) throw new Error(`the session ended with ${code} ${reason}`)
  return { ...watch.latencies, ...texts.result(), losses, translated }
}

function createTexts() {
  const open = new Map<string, string[]>()
  const finals: { start: number; text: string }[] = []
  const counts = { partialWords: 0, takenBack: 0, partials: 0 }
  return {
    add({ id, is_final, utterance }: TranscriptMessage['data']): void {
      const now = comparableWords(utterance.text)
      const before = open.get(id) ?? []
      counts.partialWords += before.length
      counts.takenBack += alignWords(before, now).filter(([word]) => word && !word.same).length
      if (is_final) {
        open.delete(id)
        finals.push(utterance)
      } else {
        open.set(id, now)
        counts.partials++
      }
    },
    result() {
      const inOrder = finals.toSorted((a, b) => a.start - b.start)
      return { ...counts, text: inOrder.map(({ text }) => text.trim()).join(' ') }
    },
  }
}
