import type { Segment } from '../../asr/engines/recognizer.ts'
import { keptRanges, omittedSamples, type Range } from '../../asr/segmentation/pauses.ts'
import { isInFragments } from '../../asr/segmentation/split-segments.ts'
import { VAD_FRAME } from '../../asr/segmentation/vad-frames.ts'
import { SAMPLE_RATE } from '../../audio/pcm.ts'

/** How speech is split into utterances; times in seconds. */
export type EndpointerOptions = {
  /** `speech_threshold`: nearer 1, less audio counts as speech. */
  threshold: number
  /** Gaps shorter than this do not count as silence. */
  hangover: number
  /** Silence of this length ends an utterance. */
  endpointing: number
  /** An utterance that reaches this length is cut. */
  maxSeconds: number
}

/**
 * An utterance, in frames of `VAD_FRAME` samples, end exclusive. `number` counts from 0 in its
 * channel. `pauses` are those between fragments, such as dictated digits; `fragmentsBefore` are
 * those of the utterances before, if it consists of fragments itself.
 */
export type UtteranceSpan = {
  number: number
  from: number
  to: number
  pauses?: Range[]
  fragmentsBefore?: Range[]
}

/**
 * An event of an endpointer. `pause` means that an utterance ends there unless speech continues.
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
  /** `silent` → `speaking` after enough voiced frames, and back after enough silence. */
  phase: 'silent' | 'speaking'
  /** First frame of the voiced span that may become speech, or of the open utterance. */
  from: number | null
  /** Voiced frames since `from`, while silent. */
  voiced: number
  /** End of the last voiced frame. */
  lastSpeech: number
  /** Number of the open or next utterance. */
  number: number
  /**
   * Speech probability and level of the last frames: an utterance that is too long is cut where
   * both are lowest.
   */
  recent: number[]
  /** The pauses within the open utterance. */
  pauses?: Range[]
  /** The last fragments of the utterances that have ended, if no other speech came after them. */
  fragments?: Range[]
}

/** Adds the first and last sounds of a word, which the VAD misses. */
const PRE_ROLL_SAMPLES = 0.3 * SAMPLE_RATE
const PAD_FRAMES = 4
/** A pause between fragments has at least this many frames (0.25 s). */
const FRAGMENT_PAUSE_FRAMES = 8
/**
 * Fewer fragments are recognized together with those before them: a single word gives the model
 * little context. From more fragments the model makes long numbers.
 */
const FRAGMENTS_TOGETHER = 3
/** Fragments with a longer pause between them are recognized apart (2 s, in frames). */
const MAX_FRAGMENT_PAUSE_FRAMES = Math.floor((2 * SAMPLE_RATE) / VAD_FRAME)
/**
 * Audio that is recognized again with an utterance that follows another without a pause (2 s, in
 * samples).
 */
const CONTEXT_SAMPLES = 2 * SAMPLE_RATE
/** A click is shorter: this many voiced frames make speech (0.1 s). */
const MIN_VOICED = 3
/**
 * An utterance that is too long is cut within its last 1.25 s (`CUT_FRAMES`), but not in the newest
 * 0.4 s (`CUT_MARGIN_FRAMES`): without the audio that follows, the word before a cut is
 * misrecognized.
 */
const CUT_FRAMES = 39
const CUT_MARGIN_FRAMES = 12
/**
 * Words begin before the first voiced frame and end after the last: this much less speech fits
 * (0.25 s).
 */
const MARGIN_FRAMES = 8
/**
 * A VAD threshold that suits recordings (see `asr/segmentation/split-segments.ts`), and the setting
 * that maps to it.
 */
const RECORDING_THRESHOLD = { detector: 0.5, setting: 0.6 }
/** Speech continues down to this share of the threshold that opens it. */
const OFFSET_SHARE = 0.7
/**
 * Decibels that weigh as much as the full range of speech probability when the quietest place is
 * searched.
 */
const LEVEL_SCALE = 40

/** Returns the state of a channel before any audio. */
export function initialEndpointerState(): EndpointerState {
  const nothing = { from: null, voiced: 0, lastSpeech: 0, number: 0, recent: [], pauses: [] }
  return { frame: 0, phase: 'silent', ...nothing }
}

/**
 * Creates an endpointer. Its `step` advances the state by one frame: it takes the speech
 * probability and the level (dB) of the frame, changes the state, and returns the events that this
 * frame causes.
 *
 * Silent: three voiced frames start speech, and with it an utterance; a shorter voiced span is a
 * click. Speaking: an utterance, and speech with it, ends when no frame was voiced for the hangover
 * plus `endpointing`. An utterance that reaches `maxSeconds` in a pause ends where its last speech
 * ended, and none is open until voice returns. Within speech it is cut where it is quietest, and
 * the rest of it starts the next one. In both cases speech goes on.
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
      // With a frame or two of silence, it is not known yet whether a pause begins.
      if (silence === 0) return [cutLongUtterance(state, state.from, at + 1)]
    }
    if (silence !== PAD_FRAMES) return []
    return [{ type: 'pause', utterance: spanOf(state, state.from, state.lastSpeech) }]
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

/**
 * Returns the first sample that the open utterance, or one that would begin now, may be recognized
 * with, whether it turns out to be a fragment or not. `after` is as for `segmentsOf`.
 */
export function firstNeededSample(state: EndpointerState, after: number): number {
  const from = state.from ?? state.frame
  const [fragment] = fragmentsBeside(
    { number: state.number, from, to: from + 1 },
    state.fragments ?? [],
  )
  const start = Math.max(after, from * VAD_FRAME - PRE_ROLL_SAMPLES)
  const first = fragment ? fragment.start * VAD_FRAME : start
  return Math.max(0, Math.min(first, start - CONTEXT_SAMPLES))
}

function spanOf(state: EndpointerState, from: number, to: number): UtteranceSpan {
  const pauses = fragmentPauses(state, { start: from, end: to })
  const span = { number: state.number, from, to: Math.max(to, from + 1), ...(pauses && { pauses }) }
  const fragmentsBefore = fragmentsBeside(span, state.fragments ?? [])
  return fragmentsBefore.length > 0 ? { ...span, fragmentsBefore } : span
}

/** Returns those of the last fragments that are recognized with an utterance. */
function fragmentsBeside(span: UtteranceSpan, last: readonly Range[]): Range[] {
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

/** Returns the index of the lowest mean of three; the last of equal ones. */
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

/** Returns the seconds from the start of the session at which a frame begins. */
export function frameTime(frame: number): number {
  return (frame * VAD_FRAME) / SAMPLE_RATE
}

/**
 * Samples to be recognized: words that begin in `segment`, recognized together with the audio in
 * `context`. `isAfterPause`: the speech of the utterance before did not go on in this one.
 */
export type UtteranceSegments = { segment: Segment; context: Segment; isAfterPause?: true }

/**
 * Returns the samples that are recognized for an utterance: a little more than its speech, but
 * nothing that the previous one took (`after`, in samples). One that was cut off from its neighbors
 * gets the audio before and after it as context, as far as it is known: models perform badly where
 * audio begins or ends within a word. So does one that follows a pause which the two share. A
 * fragment gets the fragments before it, without the pauses.
 */
export function segmentsOf(
  { from, to, pauses, fragmentsBefore = [] }: UtteranceSpan,
  { state, after }: { state: EndpointerState; after: number },
): UtteranceSegments {
  const isCut = state.from === to
  const limit = isCut ? to : state.frame
  const start = Math.max(after, from * VAD_FRAME - PRE_ROLL_SAMPLES, 0)
  const followsCut = after > 0 && from * VAD_FRAME <= after
  // Words of other fragments would be taken for those of a fragment.
  const isFragment = pauses !== undefined || isInFragments({ start: from, end: to }, [])
  const hasContext = followsCut || (start === after && after > 0 && !isFragment)
  const end = Math.min(to + PAD_FRAMES, limit) * VAD_FRAME
  const segment = { start, end, ...(pauses && { pauses: omittedSamples(pauses) }) }
  const [first] = fragmentsBefore
  if (first && !followsCut) {
    const gaps = [...fragmentsBefore, { start: from, end: to }].map(({ start }, i, all) => {
      return { start: all[i - 1]?.end ?? start, end: start }
    })
    const omitted = omittedSamples([...gaps.slice(1), ...(pauses ?? [])])
    const context = { start: first.start * VAD_FRAME, end, pauses: omitted }
    return { segment, context, isAfterPause: true }
  }
  const context = {
    start: hasContext ? Math.max(0, start - CONTEXT_SAMPLES) : start,
    end: isCut ? state.frame * VAD_FRAME : end,
  }
  return { segment, context, ...(!followsCut && { isAfterPause: true as const }) }
}
