import type { Segment } from '../../asr/engines/recognizer.ts'
import type { Range } from '../../asr/segmentation/pauses.ts'
import { VAD_FRAME } from '../../asr/segmentation/vad-frames.ts'
import { SAMPLE_RATE } from '../../audio/pcm.ts'
import type { Word } from '../../transcript/transcript.ts'
import { PRE_ROLL_SAMPLES } from './endpointing/utterance-segments.ts'

/**
 * The first words of a long open utterance, which partials do not recognize again, and the sample
 * after them. They are lost with the process, and then recognized again.
 */
export type SettledWords = { words: readonly Word[]; end: number }

/** A partial covers at most 15 s: models perform badly beyond, and take too long. */
const MAX_WINDOW_SAMPLES = 15 * SAMPLE_RATE
/** From this length on, the first words of a partial are settled. */
const SETTLE_WINDOW_SAMPLES = 12 * SAMPLE_RATE
/** Words before a pause are settled only with this much audio after them: they may change. */
const MIN_SAMPLES_AFTER_PAUSE = 1.5 * SAMPLE_RATE
/** The same for words that no pause follows, whose times are less certain. */
const MIN_SAMPLES_AFTER_WORD = 4 * SAMPLE_RATE
/** A word begins about this long before its rough start in a partial. */
const WORD_LEAD_SAMPLES = 0.15 * SAMPLE_RATE

/** Returns the range of samples that the next partial of an utterance recognizes. */
export function windowOf({ start, end }: Segment, settled: SettledWords | undefined): Segment {
  const from = Math.max(start, settled?.end ?? start)
  return { start: from, end: Math.min(end, from + MAX_WINDOW_SAMPLES) }
}

/**
 * Settles the first words of a partial that has become long: those before its last pause, without a
 * pause those before a word some seconds ago. `pauses` are in frames. Returns `before`, the words
 * that are settled already, where the partial is short.
 */
export function settleWords(
  words: readonly Word[],
  {
    window,
    pauses = [],
    before,
  }: { window: Segment; pauses?: readonly Range[] | undefined; before: SettledWords | undefined },
): SettledWords | undefined {
  if (window.end - window.start < SETTLE_WINDOW_SAMPLES) return before
  const { until, end } = pauseIn(window, pauses) ?? wordIn(window, words)
  const first = words.filter(({ start }) => start * SAMPLE_RATE < until)
  return { words: [...(before?.words ?? []), ...first], end }
}

/** Words that begin before sample `until` are settled; recognition continues at `end`. */
type Cut = { until: number; end: number }

function pauseIn(window: Segment, pauses: readonly Range[]): Cut | undefined {
  const pause = pauses
    .map(({ start, end }) => ({ start: start * VAD_FRAME, end: end * VAD_FRAME }))
    .findLast(({ start }) => start > window.start && start <= window.end - MIN_SAMPLES_AFTER_PAUSE)
  if (!pause) return undefined
  const middle = Math.round((pause.start + pause.end) / 2)
  return { until: middle, end: Math.max(middle, pause.end - PRE_ROLL_SAMPLES) }
}

function wordIn(window: Segment, words: readonly Word[]): Cut {
  const latest = window.end - MIN_SAMPLES_AFTER_WORD
  const starts = words.map(({ start }) => Math.round(start * SAMPLE_RATE))
  const until = starts.findLast((start) => start > window.start && start <= latest) ?? latest
  return { until, end: until - WORD_LEAD_SAMPLES }
}
