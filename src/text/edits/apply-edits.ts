import { roundTo } from '../../transcript/rounding.ts'
import { separatorOf } from '../../transcript/separators.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'
import { type EditState, speakerAt, type WordReplacement } from './edit-state.ts'
import { interpolateTimes, timeFor } from './interpolate-times.ts'
import { bareWords } from './machine-words.ts'

type WordView = UtteranceView['words'][number]

/**
 * A word of a corrected transcript. `source` is the index of its word in the machine's transcript,
 * or of the first word that it replaces.
 */
export type EditedWord = WordView & { source: number; edited?: true }

/**
 * An utterance of a corrected transcript, and the words of the machine's transcript that it stands
 * for (`to` exclusive).
 */
export type EditedUtterance = Omit<UtteranceView, 'words'> & {
  words: EditedWord[]
  source: { utterance: number; from: number; to: number }
}

/**
 * Applies corrections to the utterances of a result, which stay as they are. An utterance that
 * several speakers share becomes several; one without words is left out. A corrected word has the
 * confidence 1.
 */
export function applyEdits(
  utterances: readonly UtteranceView[],
  state: EditState,
): EditedUtterance[] {
  const edited = utterances.flatMap((utterance, i) => editUtterance(utterance, i, state))
  return edited.sort((a, b) => a.start - b.start || a.channel - b.channel)
}

/** A word, the end of the range of original words it replaces, and its speaker. */
type SpokenWord = { word: EditedWord; to: number; speaker: number | undefined }

function editUtterance(
  view: UtteranceView,
  utterance: number,
  state: EditState,
): EditedUtterance[] {
  const isUntouched = !state.words.has(utterance) && !state.speakers.has(utterance)
  if (isUntouched) return [keepUtterance(view, utterance, state)]
  const turns: SpokenWord[][] = []
  for (const item of itemsOf(view, utterance, state)) {
    const turn = turns.at(-1)
    if (turn && turn[0]!.speaker === item.speaker) turn.push(item)
    else turns.push([item])
  }
  return turns.map((items) => viewTurn(view, utterance, items))
}

function keepUtterance(
  view: UtteranceView,
  utterance: number,
  { joined }: EditState,
): EditedUtterance {
  const joinedSpeaker = view.speaker === undefined ? undefined : joined.get(view.speaker)
  const { speaker_confidence: _speakerConfidence, ...rest } = view
  return {
    ...(joinedSpeaker === undefined ? view : { ...rest, speaker: joinedSpeaker }),
    words: view.words.map((word, source) => ({ ...word, source })),
    source: { utterance, from: 0, to: view.words.length },
  }
}

function itemsOf(view: UtteranceView, utterance: number, state: EditState): SpokenWord[] {
  const replaced = state.words.get(utterance) ?? []
  const bare = bareWords(view)
  const items: SpokenWord[] = []
  const whoSays = (word: number) => speakerAt(state, { utterance, word }, view.speaker)
  let next = 0
  for (let i = 0; i < view.words.length; ) {
    const replacement = replaced[next]
    if (replacement?.from === i) {
      const speaker = whoSays(i)
      for (const word of newWords(view, replacement))
        items.push({ word, to: replacement.to, speaker })
      i = replacement.to
      next++
    } else {
      const word = { ...view.words[i]!, word: bare[i]!, source: i }
      items.push({ word, to: i + 1, speaker: whoSays(i) })
      i++
    }
  }
  return items
}

function newWords(view: UtteranceView, replacement: WordReplacement): EditedWord[] {
  const { from, words } = replacement
  if (words.length === 0) return []
  const spans = interpolateTimes(words, timeFor(view.words, replacement))
  return words.map((word, i) => {
    const { start, end } = spans[i]!
    const times = { start: start / 1000, end: end / 1000 }
    return { word, ...times, confidence: 1, source: from, edited: true }
  })
}

function viewTurn(
  view: UtteranceView,
  utterance: number,
  items: readonly SpokenWord[],
): EditedUtterance {
  const space = separatorOf(view.language)
  // In sessions every word begins with a space, even the first one.
  const first = space !== '' && view.words[0]!.word.startsWith(space) ? space : ''
  const words = items.map(({ word }, i) => ({
    ...word,
    word: (i === 0 ? first : space) + word.word,
  }))
  const { speaker } = items[0]!
  const { speaker: foundSpeaker, speaker_confidence: speakerConfidence, ...rest } = view
  const confidence = words.reduce((sum, word) => sum + word.confidence, 0) / words.length
  return {
    ...rest,
    start: words[0]!.start,
    end: words.at(-1)!.end,
    confidence: roundTo(confidence, 3),
    ...(speaker !== undefined && { speaker }),
    ...(speaker === foundSpeaker &&
      speakerConfidence !== undefined && { speaker_confidence: speakerConfidence }),
    text: words.map(({ word }) => word).join(''),
    words,
    source: { utterance, from: items[0]!.word.source, to: items.at(-1)!.to },
  }
}
