import { keptRanges, type Range } from '../../../asr/segmentation/pauses.ts'
import { isInFragments } from '../../../asr/segmentation/split-segments.ts'
import { VAD_FRAME } from '../../../asr/segmentation/vad-frames.ts'
import { SAMPLE_RATE } from '../../../audio/pcm.ts'

/** Settings for splitting speech into utterances; times are in seconds. */
export type EndpointerOptions = {
  /**
   * The `speech_threshold` of the session, from 0 to 1: the higher it is, the less audio counts as
   * speech.
   */
  threshold: number
  /** Gaps shorter than this do not count as silence. */
  hangover: number
  /** Silence of this length ends an utterance. */
  endpointing: number
  /** An utterance that reaches this length is cut. */
  maxSeconds: number
}

/**
 * An utterance, in frames of `VAD_FRAME` samples, end exclusive. `number` counts the utterances of
 * a channel from 0. `pauses` are the pauses between fragments, such as dictated digits. If the
 * utterance consists of fragments, `fragmentsBefore` are the fragments before it.
 */
export type UtteranceSpan = {
  number: number
  from: number
  to: number
  pauses?: Range[]
  fragmentsBefore?: Range[]
}

/**
 * An event of an endpointer. `pause` means that an utterance ends there unless speech continues; it
 * comes early enough to recognize the utterance meanwhile.
 */
export type EndpointerEvent =
  | { type: 'speech_start'; frame: number }
  | { type: 'speech_end'; frame: number }
  | { type: 'pause'; utterance: UtteranceSpan }
  | { type: 'utterance'; utterance: UtteranceSpan }

/** The state of an endpointer; plain data, so that a session can be resumed. */
export type EndpointerState = {
  /** Frames processed. */
  frame: number
  /**
   * Changes from `silent` to `speaking` after enough voiced frames, and back after enough silence.
   */
  phase: 'silent' | 'speaking'
  /**
   * The first frame of the voiced span that may become speech, or of the open utterance; null if
   * there is neither.
   */
  from: number | null
  /** The number of voiced frames since `from`, while silent. */
  voiced: number
  /** The end of the last voiced frame. */
  lastSpeech: number
  /** The number of the open or next utterance. */
  number: number
  /**
   * Scores of the last frames, from speech probability and level: an utterance that is too long is
   * cut where the score is lowest.
   */
  recent: number[]
  /** The pauses within the open utterance. */
  pauses?: Range[]
  /** The last fragments of the utterances that have ended, if no other speech came after them. */
  fragments?: Range[]
}

/**
 * Audio added after the speech of an utterance: the VAD misses the last sounds of a word.
 */
export const PAD_FRAMES = 4
/** A pause between fragments has at least this many frames (0.25 s). */
const FRAGMENT_PAUSE_FRAMES = 8
/**
 * Up to this many fragments are recognized together: a single word gives the model little context,
 * but from more fragments the model makes long numbers.
 */
const FRAGMENTS_TOGETHER = 3
/** Fragments with a longer pause between them are recognized separately (2 s, in frames). */
const MAX_FRAGMENT_PAUSE_FRAMES = Math.floor((2 * SAMPLE_RATE) / VAD_FRAME)
/** This many voiced frames start speech (0.1 s); a click is shorter. */
const MIN_VOICED = 3
/**
 * An utterance that is too long is cut within its last 1.25 s (`CUT_FRAMES`), but not in the newest
 * 0.4 s (`CUT_MARGIN_FRAMES`): without the audio that follows, the word before a cut is
 * misrecognized.
 */
const CUT_FRAMES = 39
const CUT_MARGIN_FRAMES = 12
/**
 * A pause is reported this long before it ends an utterance (0.6 s), and earlier by this share of
 * the utterance, so that its final can be ready. If it were reported at once with a long
 * `endpointing`, most of these finals would be recognized in vain: people pause within sentences.
 */
const MIN_LEAD_FRAMES = 19
const LEAD_SHARE = 0.1
/**
 * An utterance is limited to this much less speech than `maxSeconds` (0.25 s), because words begin
 * before the first voiced frame and end after the last.
 */
const MARGIN_FRAMES = 8
/**
 * The VAD threshold that suits recordings (see `asr/segmentation/split-segments.ts`), and the
 * `speech_threshold` that maps to it.
 */
const RECORDING_THRESHOLD = { detector: 0.5, setting: 0.6 }
/** Speech continues down to this share of the threshold that opens it. */
const OFFSET_SHARE = 0.7
/**
 * A level difference of this many decibels weighs as much as the full range of speech probability
 * when the quietest frame is searched.
 */
const LEVEL_SCALE = 40

/** Returns the state of a channel before any audio. */
export function initialEndpointerState(): EndpointerState {
  const silentState = { from: null, voiced: 0, lastSpeech: 0, number: 0, recent: [], pauses: [] }
  return { frame: 0, phase: 'silent', ...silentState }
}

/**
 * Silent: three voiced frames start speech, and with it an utterance; a shorter voiced span is a
 * click. Speaking: an utterance, and speech with it, ends when no frame was voiced for the hangover
 * plus `endpointing`. An utterance that reaches `maxSeconds` in a pause ends where its last speech
 * ended, and the next one opens when speech continues. Within speech it is cut where it is
 * quietest, and the next one begins there. In both cases no speech event is sent.
 */
export function createEndpointer(options: EndpointerOptions) {
  const onset = onsetOf(options.threshold)
  const offset = onset * OFFSET_SHARE
  const gapFrames = Math.max(1, toFrames(options.hangover))
  const endFrames = Math.max(PAD_FRAMES + 1, toFrames(options.hangover + options.endpointing))
  const maxFrames = toFrames(options.maxSeconds) - MARGIN_FRAMES

  function step(state: EndpointerState, probability: number, level: number): EndpointerEvent[] {
    const at = state.frame++
    state.recent.push(probability + level / LEVEL_SCALE)
    if (state.recent.length > CUT_FRAMES) state.recent.shift()
    return state.phase === 'silent'
      ? whileSilent(state, at, probability)
      : whileSpeaking(state, at, probability)
  }

  function whileSilent(state: EndpointerState, at: number, probability: number): EndpointerEvent[] {
    if (probability < onset) {
      if (at + 1 - state.lastSpeech >= gapFrames) [state.from, state.voiced] = [null, 0]
      return []
    }
    state.from ??= at
    state.voiced++
    state.lastSpeech = at + 1
    if (state.voiced < MIN_VOICED) return []
    state.phase = 'speaking'
    return [{ type: 'speech_start', frame: state.from }]
  }

  function whileSpeaking(
    state: EndpointerState,
    at: number,
    probability: number,
  ): EndpointerEvent[] {
    if (probability >= offset) {
      if (state.from !== null && at - state.lastSpeech >= FRAGMENT_PAUSE_FRAMES) {
        state.pauses = [...(state.pauses ?? []), { start: state.lastSpeech, end: at }]
      }
      state.lastSpeech = at + 1
    }
    if (state.from === null && probability >= onset) state.from = at
    const silence = at + 1 - state.lastSpeech
    if (silence >= endFrames) return end(state)
    if (state.from === null) return []
    if (at + 1 - state.from >= maxFrames) {
      if (silence >= PAD_FRAMES) return [endInPause(state, state.from)]
      // With one to three frames of silence, a pause may be beginning.
      if (silence === 0) return [cutLongUtterance(state, state.from, at + 1)]
    }
    if (silence !== pauseFrames(state.lastSpeech - state.from)) return []
    return [{ type: 'pause', utterance: spanOf(state, state.from, state.lastSpeech) }]
  }

  /** Returns the silence after which an utterance of so many frames has probably ended. */
  function pauseFrames(length: number): number {
    return Math.max(PAD_FRAMES, endFrames - MIN_LEAD_FRAMES - Math.round(LEAD_SHARE * length))
  }

  /** Ends speech when the audio ends. */
  function finish(state: EndpointerState): EndpointerEvent[] {
    return state.phase === 'speaking' ? end(state) : []
  }

  return { step, finish }
}

function end(state: EndpointerState): EndpointerEvent[] {
  const { from, lastSpeech } = state
  const events: EndpointerEvent[] = [{ type: 'speech_end', frame: lastSpeech }]
  if (from !== null) events.push(endUtterance(state, from, lastSpeech))
  Object.assign(state, { phase: 'silent', from: null, voiced: 0 })
  return events
}

/** Ends an utterance that is too long where its last speech ended. */
function endInPause(state: EndpointerState, from: number): EndpointerEvent {
  const event = endUtterance(state, from, state.lastSpeech)
  state.from = null
  return event
}

/**
 * Cuts an utterance that is too long: fragments in their last pause, if that lies in the second
 * half, other speech where it is quietest.
 */
function cutLongUtterance(state: EndpointerState, from: number, now: number): EndpointerEvent {
  const { recent } = state
  const quietest = now - recent.length + quietestOf(recent.slice(0, -CUT_MARGIN_FRAMES))
  const pause = fragmentPauses(state, { start: from, end: now })?.at(-1)
  const isInPause = pause !== undefined && pause.start - from >= (now - from) / 2
  const at = isInPause ? pause.start : Math.max(quietest, from + 1)
  const event = endUtterance(state, from, at)
  state.from = isInPause ? pause.end : at
  return event
}

function endUtterance(state: EndpointerState, from: number, to: number): EndpointerEvent {
  const utterance = spanOf(state, from, to)
  const before = utterance.fragmentsBefore ?? []
  state.fragments = [...before, ...fragmentsOf(utterance)].slice(1 - FRAGMENTS_TOGETHER)
  state.pauses = []
  state.number++
  return { type: 'utterance', utterance }
}

function spanOf(state: EndpointerState, from: number, to: number): UtteranceSpan {
  const pauses = fragmentPauses(state, { start: from, end: to })
  const span = { number: state.number, from, to: Math.max(to, from + 1), ...(pauses && { pauses }) }
  const fragmentsBefore = precedingFragments(span, state.fragments ?? [])
  return fragmentsBefore.length > 0 ? { ...span, fragmentsBefore } : span
}

/** Returns those of the `last` fragments that are recognized together with an utterance. */
export function precedingFragments(span: UtteranceSpan, last: readonly Range[]): Range[] {
  const fragmentCount = fragmentsOf(span).length
  const isNear = span.from - (last.at(-1)?.end ?? 0) <= MAX_FRAGMENT_PAUSE_FRAMES
  if (fragmentCount === 0 || fragmentCount >= FRAGMENTS_TOGETHER || !isNear) return []
  return last.slice(fragmentCount - FRAGMENTS_TOGETHER)
}

/** Returns the fragments of an utterance; none for other speech. */
function fragmentsOf({ from, to, pauses = [] }: UtteranceSpan): Range[] {
  const span = { start: from, end: to }
  return isInFragments(span, pauses) ? keptRanges(span, pauses) : []
}

/** Returns the pauses of speech that consists of fragments; undefined for other speech. */
function fragmentPauses({ pauses = [] }: EndpointerState, span: Range): Range[] | undefined {
  const inside = pauses.filter(({ start, end }) => start > span.start && end < span.end)
  return inside.length > 0 && isInFragments(span, inside) ? inside : undefined
}

/**
 * Returns the index of the middle of the three neighboring values with the lowest mean; the last
 * one if several are equal.
 */
function quietestOf(values: readonly number[]): number {
  let best = 0
  let min = Number.POSITIVE_INFINITY
  for (let i = 1; i + 1 < values.length; i++) {
    const mean = values[i - 1]! + values[i]! + values[i + 1]!
    if (mean <= min) [best, min] = [i, mean]
  }
  return best
}

function onsetOf(threshold: number): number {
  const { detector, setting } = RECORDING_THRESHOLD
  if (threshold <= setting) return (threshold * detector) / setting
  return detector + ((threshold - setting) / (1 - setting)) * (1 - detector)
}

function toFrames(seconds: number): number {
  return Math.ceil((seconds * SAMPLE_RATE) / VAD_FRAME - 1e-9)
}
