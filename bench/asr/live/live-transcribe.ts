import { rm } from 'node:fs/promises'
import type { LiveEngine } from '../../../src/asr/live-engine/live-engine.ts'
import type { PcmFile } from '../../../src/asr/speech-engine.ts'
import { SAMPLE_RATE } from '../../../src/audio/pcm.ts'
import {
  alignToPrevious,
  type LastWord,
  MAX_LEAD,
  withoutPrevious,
} from '../../../src/live/recognition/endpointing/adjacent-utterances.ts'
import {
  createEndpointer,
  type EndpointerOptions,
  type EndpointerState,
  initialEndpointerState,
} from '../../../src/live/recognition/endpointing/endpointer.ts'
import {
  segmentsOf,
  type UtteranceSegments,
} from '../../../src/live/recognition/endpointing/utterance-segments.ts'
import type { Word } from '../../../src/transcript/transcript.ts'

/** The words that a session recognizes in a recording, and the time of each final, in seconds. */
export type LiveRecognition = {
  words: Word[]
  finals: { seconds: number; took: number }[]
}

const signal = new AbortController().signal
const settings = { model: 'moonshine-base', language: 'en', languages: [], vocabulary: [], signal }

/** The default settings of a session. */
const defaultEndpointing: EndpointerOptions = {
  threshold: 0.6,
  hangover: 0.25,
  endpointing: 0.05,
  maxSeconds: 5,
}

/** Recognizes a recording as a session does whose client sends it at once; without partials. */
export async function transcribeLive(
  live: LiveEngine,
  pcm: PcmFile,
  { isDenoised = false, endpointing = defaultEndpointing } = {},
): Promise<LiveRecognition> {
  const path = `${pcm.path}.live`
  const recognition: LiveRecognition = { words: [], finals: [] }
  let last: LastWord | null = null
  for (const segmentsOfUtterance of await findUtterances(live, pcm, {
    path,
    isDenoised,
    endpointing,
  })) {
    const { start, end } = segmentsOfUtterance.segment
    const started = performance.now()
    const utterance = {
      ...segmentsOfUtterance,
      segment: alignToPrevious(segmentsOfUtterance, last),
    }
    const recognized = await live.recognizeFinal(utterance, settings)
    const earliest = start / SAMPLE_RATE - MAX_LEAD
    const words = withoutPrevious(segmentsOfUtterance, recognized, { last, earliest })
    last = words.at(-1) ?? last
    const took = (performance.now() - started) / 1000
    recognition.finals.push({ seconds: (end - start) / SAMPLE_RATE, took })
    recognition.words.push(...words)
  }
  await rm(path)
  return recognition
}

/** Returns the utterances into which a session cuts a recording; writes its samples to `path`. */
async function findUtterances(
  live: LiveEngine,
  pcm: PcmFile,
  {
    path,
    isDenoised,
    endpointing,
  }: { path: string; isDenoised: boolean; endpointing: EndpointerOptions },
): Promise<(UtteranceSegments & { path: string })[]> {
  const format = { encoding: 's16' as const, sampleRate: SAMPLE_RATE, channels: 1 }
  const audio = { path: pcm.path, start: 0, format, isDenoised, channels: [path] }
  const endpointer = createEndpointer(endpointing)
  const state: EndpointerState = initialEndpointerState()
  const utterances: (UtteranceSegments & { path: string })[] = []
  const take = (events: ReturnType<typeof endpointer.step>) => {
    for (const event of events) {
      if (event.type !== 'utterance') continue
      const { utterance } = event
      const after = utterances.at(-1)?.segment.end ?? 0
      utterances.push({ path, ...segmentsOf(utterance, { state, after }) })
    }
  }
  for (let frames = 1; frames > 0; ) {
    const request = { from: state.frame, frames: pcm.samples, isEnd: true }
    const { probabilities, levels } = await live.detectSpeech(audio, request, { signal })
    frames = probabilities[0]!.length
    for (const [i, probability] of probabilities[0]!.entries()) {
      take(endpointer.step(state, probability, levels[0]![i]!))
    }
  }
  take(endpointer.finish(state))
  return utterances
}
