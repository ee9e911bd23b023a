import type { DraftText } from '../../../../src/asr/engines/recognizer.ts'
import { type LiveEngine, MAX_DETECT_FRAMES } from '../../../../src/asr/live-engine/live-engine.ts'
import type { SpeakerCounts } from '../../../../src/asr/speech-engine.ts'
import type { Snapshot } from '../../../../src/live/journal/log-records.ts'
import type { ChannelEvent } from '../../../../src/live/recognition/events/channel-events.ts'
import { RecognitionLoop } from '../../../../src/live/recognition/recognition-loop.ts'
import { createSessionLanguage } from '../../../../src/live/recognition/session-language.ts'
import { createLog } from '../../../../src/observability/log.ts'
import type { SessionText } from '../../../../src/text/live/session-text.ts'
import type { Word } from '../../../../src/transcript/transcript.ts'
import type { UtteranceView } from '../../../../src/transcript/utterance-view.ts'
import { plainText } from '../plain-text.ts'

export const FRAME = 512
const settings = { model: 'm', language: undefined, languages: [], vocabulary: [] }

type Options = {
  /** Called before a call is answered. */
  before?: (kind: 'vad' | 'final' | 'partial', segment?: { start: number; end: number }) => unknown
  partials?: boolean
  from?: Snapshot
  text?: string
  /** The words of each final, in place of its frames. */
  words?: readonly Omit<Word, 'confidence'>[]
  /** The word before those of each final. */
  wordBefore?: string
  applyTransforms?: SessionText['applyTransforms']
  /** Requests diarization; utterances of the same frame count share a speaker. */
  speakers?: SpeakerCounts
  /** The load of the machine. */
  load?: number
  partialIntervalMs?: number
  /** Silence of this many seconds ends an utterance, and an utterance that is so long is cut. */
  endpointing?: { endpointing: number; maxSeconds: number }
}

/**
 * Opens a session of synthesized audio, a character per 32 ms and a string per channel: `#` is
 * speech. A final states which frames it was made of, a partial how many.
 */
export function open(channels: readonly string[], options: Options = {}) {
  const { before, partials = false, from, text, words: given, speakers, load = 0 } = options
  const { partialIntervalMs = 0, endpointing = { endpointing: 0.05, maxSeconds: 5 } } = options
  const reported: string[] = []
  const views: UtteranceView[] = []
  const partialViews: UtteranceView[] = []
  const snapshots: Snapshot[] = []
  const calls: string[] = []
  /** Of each final, whether it yields to the work of others. */
  const yielding: boolean[] = []
  /** The draft of each final; its tokens are the frames of a partial. */
  const drafts: (DraftText | undefined)[] = []
  const detected: number[] = []
  const leaving = new AbortController()
  /** Samples that were written for finals and partials. */
  let samples = 0
  const engine: LiveEngine = {
    capacity: undefined,
    load,
    weightWithoutPartials: 0.5,
    async detectSpeech({ channels: paths }, { from: at, frames, isEnd }, { signal }) {
      await before?.('vad')
      detected.push(at)
      signal.throwIfAborted()
      const whole = isEnd ? Math.ceil(frames / FRAME) : Math.floor(frames / FRAME)
      const end = Math.min(at + MAX_DETECT_FRAMES, whole)
      if (end > at) samples = Math.max(samples, end * FRAME)
      const recognized = paths.map((_, i) => [...channels[i]!.slice(at, Math.max(at, end))])
      return {
        probabilities: recognized.map((frames) =>
          Float32Array.from(frames, (c) => (c === '#' ? 1 : 0)),
        ),
        levels: recognized.map((frames) => new Float32Array(frames.length).fill(-30)),
      }
    },
    async recognizeFinal({ path, segment }, { signal, draft, ...requested }) {
      const { wantsEmbedding = false, isLowPriority = false } = requested
      yielding.push(isLowPriority)
      drafts.push(draft)
      calls.push(`final ${path}${wantsEmbedding ? ' with voice' : ''}`)
      await before?.('final', segment)
      signal.throwIfAborted()
      if (segment.end > samples) throw new TypeError('the samples are too short')
      const segmentText = text ?? `${Math.round(segment.start / FRAME)}-${segment.end / FRAME}`
      const [start, end] = [segment.start / 16_000, segment.end / 16_000]
      const spoken = given ?? (segmentText === '' ? [] : [{ text: segmentText, start, end }])
      const words = spoken.map((word) => ({ ...word, confidence: 1 }))
      const embedding = new Float32Array(100)
      embedding[Math.round((segment.end - segment.start) / FRAME)] = 1
      return {
        words,
        ...(options.wordBefore && { wordBefore: options.wordBefore }),
        model: 'm',
        language: 'en',
        warnings: [],
        ...(wantsEmbedding && { speakerEmbedding: { embedding, seconds: 2 } }),
      }
    },
    async recognizePartial({ segment }, { signal }) {
      await before?.('partial', segment)
      signal.throwIfAborted()
      const [start, end] = [segment.start / 16_000, segment.end / 16_000]
      const words = [{ text: `${segment.end / FRAME}`, start, end, confidence: 1 }]
      return { words, model: 'm', language: 'en', draft: [segment.end / FRAME] }
    },
  }
  const recognition = new RecognitionLoop(
    {
      engine,
      selection: { finals: settings, partials: settings, maxSeconds: 15, warnings: [] },
      warn() {},
      audio: {
        path: 'sound',
        start: 0,
        format: { encoding: 's16', sampleRate: 16_000, channels: channels.length },
        isDenoised: false,
        channels: channels.map((_, i) => `channel ${i}`),
      },
      endpointing: { threshold: 0.6, hangover: 0.25, ...endpointing },
      language: createSessionLanguage(
        { languages: [], code_switching: false },
        { installed: ['en', 'fr'] },
      ),
      applyTransforms: options.applyTransforms ?? plainText.applyTransforms,
      speakers,
      partialIntervalMs,
      wantsPartials: () => partials,
      log: createLog('silent'),
      signal: leaving.signal,
    },
    from,
  )
  const run = async () => {
    for await (const event of recognition.run()) {
      if (event.type === 'snapshot') snapshots.push(event.snapshot)
      else if (event.type !== 'progress') reported.push(written(event))
      if (event.type === 'final') views.push(event.view)
      if (event.type === 'partial') partialViews.push(event.view)
    }
  }
  const advance = async (frames = channels[0]!.length) => {
    recognition.setAvailable(frames * FRAME)
    recognition.end()
    await run()
    return reported
  }
  return {
    recognition,
    run,
    advance,
    reported,
    views,
    partialViews,
    snapshots,
    calls,
    yielding,
    drafts,
    detected,
    leaving,
  }
}

/** Returns the lines of finals. */
export function finalsIn(reported: readonly string[]): string[] {
  return reported.filter((line) => line.startsWith('final'))
}

function written(event: ChannelEvent): string {
  if (event.type === 'speech_start' || event.type === 'speech_end') {
    return `${event.type} ${event.channel} ${Math.round(event.time / 0.032)}`
  }
  const failed = event.type === 'final' && event.error !== undefined ? ' failed' : ''
  const { speaker } = event.view
  const utterances = speaker === undefined ? '' : ` by ${speaker}`
  return `${event.type} ${event.channel} ${event.number}${event.view.text}${utterances}${failed}`
}
