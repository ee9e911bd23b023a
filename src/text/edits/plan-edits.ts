import type { UtteranceView } from '../../transcript/utterance-view.ts'
import {
  applyChange,
  type EditChange,
  type EditState,
  type SpeakerOrChannel,
  speakerAt,
} from './edit-state.ts'
import { findReplacements } from './find-replacements.ts'
import { cleanSpaces, textOfRange } from './machine-words.ts'

/**
 * Words of the machine's transcript: all of an utterance, or those from `from` to `to` (exclusive).
 * `expected` is their text there.
 */
type WordRange = { utterance: number; from?: number; to?: number; expected: string }

/** A correction as a client requests it. Indexes count from 0 in the machine's transcript. */
export type EditOperation =
  | ({ op: 'replace_words'; text: string } & WordRange)
  | ({ op: 'delete_words' } & WordRange)
  | ({ op: 'set_speaker'; speaker: number } & WordRange)
  | { op: 'join_speakers'; speaker: number; into: number }
  | ({ op: 'name_speaker'; name: string } & SpeakerOrChannel)

/** Why an operation is refused: `words_changed` if the words are not those that it expects. */
export class EditError extends Error {
  readonly code: 'words_changed' | 'edit_refused'

  constructor(code: EditError['code'], message: string) {
    super(message)
    this.code = code
  }
}

/**
 * Turns operations into changes, one after the other, and adds them to `state`. Throws
 * `EditError` for the first that cannot be applied; its message quotes no words.
 */
export function planEdits(
  utterances: readonly UtteranceView[],
  state: EditState,
  operations: readonly EditOperation[],
): EditChange[] {
  return operations.map((operation, i) => {
    const refuse = (reason: string): never => {
      throw new EditError('edit_refused', `operations.${i}: ${reason}`)
    }
    const change = planEdit(utterances, state, operation, {
      refuse,
      onOtherWords: () => {
        const message = `operations.${i}: the words there are not the expected ones`
        throw new EditError('words_changed', message)
      },
    })
    applyChange(state, change)
    return change
  })
}

type Refusals = { refuse: (reason: string) => never; onOtherWords: () => never }

function planEdit(
  utterances: readonly UtteranceView[],
  state: EditState,
  operation: EditOperation,
  refusals: Refusals,
): EditChange {
  if (operation.op === 'join_speakers') {
    const { speaker, into } = operation
    if (speaker === into) refusals.refuse('a speaker cannot be joined to itself')
    const knownSpeakers = speakersOf(utterances, state)
    for (const speakerNumber of [speaker, into]) {
      if (!knownSpeakers.has(speakerNumber))
        refusals.refuse(`the transcript has no speaker ${speakerNumber}`)
    }
    return { kind: 'join', speaker, into }
  }
  if (operation.op === 'name_speaker') return planName(utterances, state, operation, refusals)
  return planWords(utterances, state, operation, refusals)
}

function planName(
  utterances: readonly UtteranceView[],
  state: EditState,
  { name: given, ...named }: Extract<EditOperation, { op: 'name_speaker' }>,
  { refuse }: Refusals,
): EditChange {
  const name = cleanSpaces(given)
  if ('speaker' in named) {
    const { speaker } = named
    if (!speakersOf(utterances, state).has(speaker))
      refuse(`the transcript has no speaker ${speaker}`)
    return { kind: 'name', speaker, name }
  }
  const { channel } = named
  if (!utterances.some((one) => one.channel === channel))
    refuse(`the transcript has no channel ${channel}`)
  return { kind: 'name', channel, name }
}

function planWords(
  utterances: readonly UtteranceView[],
  state: EditState,
  operation: Extract<EditOperation, WordRange>,
  { refuse, onOtherWords }: Refusals,
): EditChange {
  const { utterance, from = 0 } = operation
  const view = utterances[utterance]
  if (!view) return refuse(`the transcript has no utterance ${utterance}`)
  const { to = view.words.length } = operation
  if (to > view.words.length) refuse(`utterance ${utterance} has ${view.words.length} words`)
  if (from >= to)
    refuse('the range holds no words: include a neighboring word and repeat it in `text`')
  if (textOfRange(view, { from, to }) !== cleanSpaces(operation.expected)) onOtherWords()
  const cut = (state.words.get(utterance) ?? []).find(({ words, ...one }) => {
    return words.length > 0 && (contains(one, from) || contains(one, to))
  })
  if (cut) {
    refuse(
      `words ${cut.from} to ${cut.to} were corrected together, so they cannot be changed separately`,
    )
  }
  if (operation.op === 'set_speaker') {
    return { kind: 'speaker', utterance, from, to, speaker: operation.speaker }
  }
  const text = operation.op === 'delete_words' ? '' : operation.text
  const replaced = findReplacements(view, { from, to }, text)
  if (!replaced) return refuse('the text is too long for the time that these words take')
  return { kind: 'words', utterance, from, to, replaced }
}

/** Returns whether a range contains both an index and the one before it. */
function contains({ from, to }: { from: number; to: number }, index: number): boolean {
  return from < index && index < to
}

/** Returns the speakers of the corrected transcript. */
function speakersOf(utterances: readonly UtteranceView[], state: EditState): Set<number> {
  const speakers = new Set<number>()
  for (const [utterance, { speaker: foundSpeaker, words }] of utterances.entries()) {
    const isShared = state.speakers.has(utterance)
    const count = isShared ? words.length : 1
    for (let word = 0; word < count; word++) {
      const speaker = speakerAt(state, { utterance, word }, foundSpeaker)
      if (speaker !== undefined) speakers.add(speaker)
    }
  }
  return speakers
}
