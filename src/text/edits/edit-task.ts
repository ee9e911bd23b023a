import { separatorOf } from '../../transcript/separators.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'
import { applyChange, createEditState, type EditChange, type EditState } from './edit-state.ts'
import { hashWords, textOfRange } from './machine-words.ts'
import { EditError, type EditOperation, planEdits } from './plan-edits.ts'

/** The JSON text of a result, the stored corrections of its transcript, and what is to be added. */
export type EditTask = {
  result: string
  /** Earlier operations, as an edit returned them, oldest first. */
  stored: readonly string[]
  operations?: readonly EditOperation[]
}

/**
 * The JSON text of all corrections (`effective`), and of the new ones to store (`changes`); or why
 * an operation is refused.
 */
export type EditResult =
  | { effective: string; changes: string | undefined }
  | { problem: { code: EditError['code']; detail: string } }

/** Changes that were stored together, and the hash of the words that they are for. */
type StoredChanges = { words: string; changes: EditChange[] }

/** All corrections, in terms of operations that would make them. */
type EffectiveEdits = {
  words: { utterance: number; from: number; to: number; expected: string; text: string }[]
  speakers: { utterance: number; from: number; to: number; expected: string; speaker: number }[]
  joined: { speaker: number; into: number }[]
  names: ({ name: string } & ({ speaker: number } | { channel: number }))[]
  /** Whether they are for other words than those of the result, and so are left out. */
  ignored: boolean
}

/** Adds corrections to those that are stored, and describes them all. */
export function editTranscript({ result, stored, operations }: EditTask): EditResult {
  const { utterances } = (JSON.parse(result) as EditableResult).transcription
  const { state, isIgnored } = readEdits(utterances, stored)
  if (!operations)
    return { effective: describeState(utterances, state, isIgnored), changes: undefined }
  try {
    if (isIgnored) throw new EditError('words_changed', 'the transcript was made anew; restore 0')
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
 * Adds up stored corrections. Those for other words than the ones given are ignored: then there are
 * none.
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
