import { separatorOf } from '../../transcript/separators.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'
import { applyChange, createEditState, type EditChange, type EditState } from './edit-state.ts'
import { hashWords, textOfRange } from './machine-words.ts'
import { EditError, type EditOperation, planEdits } from './plan-edits.ts'

/** The JSON text of a result, the stored corrections of its transcript, and the new operations. */
export type EditTask = {
  result: string
  /** The changes that earlier edits stored, oldest first. */
  stored: readonly string[]
  operations?: readonly EditOperation[]
}

/**
 * The JSON text of all corrections (`effective`), and of the new ones to store (`changes`), or the
 * reason why an operation is refused.
 */
export type EditResult =
  | { effective: string; changes: string | undefined }
  | { problem: { code: EditError['code']; detail: string } }

/** Changes that were stored together, and the hash of the words to which they apply. */
type StoredChanges = { words: string; changes: EditChange[] }

/** All corrections, as the operations that would make them. */
type EffectiveEdits = {
  words: { utterance: number; from: number; to: number; expected: string; text: string }[]
  speakers: { utterance: number; from: number; to: number; expected: string; speaker: number }[]
  joined: { speaker: number; into: number }[]
  names: ({ name: string } & ({ speaker: number } | { channel: number }))[]
  /** Whether they are ignored because they apply to other words than those of the result. */
  ignored: boolean
}

/** Adds corrections to the stored ones, and describes all of them. */
export function editTranscript({ result, stored, operations }: EditTask): EditResult {
  const { utterances } = (JSON.parse(result) as EditableResult).transcription
  const { state, isIgnored } = readEdits(utterances, stored)
  if (!operations)
    return { effective: describeState(utterances, state, isIgnored), changes: undefined }
  try {
    if (isIgnored)
      throw new EditError('words_changed', 'the recording was transcribed again; restore version 0')
    const changes: StoredChanges = {
      words: hashWords(utterances),
      changes: planEdits(utterances, state, operations),
    }
    return { effective: describeState(utterances, state, false), changes: JSON.stringify(changes) }
  } catch (error) {
    if (!(error instanceof EditError)) throw error
    return { problem: { code: error.code, detail: error.message } }
  }
}

type EditableResult = { transcription: { utterances: UtteranceView[] } }

/**
 * Combines stored corrections. If they apply to other words than the given ones, they are ignored.
 */
export function readEdits(
  utterances: readonly UtteranceView[],
  stored: readonly string[],
): { state: EditState; isIgnored: boolean } {
  const state = createEditState()
  if (stored.length === 0) return { state, isIgnored: false }
  const words = hashWords(utterances)
  for (const text of stored) {
    const made = JSON.parse(text) as StoredChanges
    if (made.words !== words) return { state: createEditState(), isIgnored: true }
    for (const change of made.changes) applyChange(state, change)
  }
  return { state, isIgnored: false }
}

function describeState(
  utterances: readonly UtteranceView[],
  state: EditState,
  ignored: boolean,
): string {
  const ranges = <T extends { from: number; to: number }>(all: Map<number, T[]>) => {
    return [...all]
      .sort(([a], [b]) => a - b)
      .flatMap(([utterance, replacements]) =>
        replacements.map((one) => {
          const { from, to } = one
          return { utterance, from, to, expected: textOfRange(utterances[utterance]!, one), one }
        }),
      )
  }
  const edits: EffectiveEdits = {
    words: ranges(state.words).map(({ one, ...range }) => {
      return { ...range, text: one.words.join(separatorOf(utterances[range.utterance]!.language)) }
    }),
    speakers: ranges(state.speakers).map(({ one, ...range }) => {
      return { ...range, speaker: one.speaker }
    }),
    joined: [...state.joined].map(([speaker, into]) => ({ speaker, into })),
    names: [
      ...[...state.speakerNames].map(([speaker, name]) => ({ speaker, name })),
      ...[...state.channelNames].map(([channel, name]) => ({ channel, name })),
    ],
    ignored,
  }
  return JSON.stringify(edits)
}
