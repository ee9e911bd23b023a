import { separatorOf } from '../../../transcript/separators.ts'
import { foldDigits } from '../../entities/digits/digit-forms.ts'
import type { Document } from '../../entities/document.ts'
import { isFilledPause } from '../../words/sentences/clause-continuation.ts'
import {
  isPunctuationOrPossessive,
  type MaskedText,
  type MaskRun,
  maskRunsOf,
  UNMASKED,
} from './masked-text.ts'
import { maskOf } from './write-masks.ts'

/** The style in which hidden text is written. */
export type Style = 'MARKER' | 'MASK'

/**
 * The readable text of one or several utterances. `at[i]` is the position of character i in the
 * masked text, or `BETWEEN` words, or `HIDDEN`.
 */
export type MaskedSpan = { text: string; at: number[] }

/** Several utterances as one text; `interjections` are the words of others in between. */
export type JoinedSpans = MaskedSpan & Pick<Document, 'interjections'>

/** The position of a space between two words. */
export const BETWEEN = -2
/** The position of a character that stands for something hidden. */
const HIDDEN = -1

/**
 * Renders each utterance as a reader of the redacted text will see it, like `writeMasks` or
 * `writeMarkers`, except that a marker becomes one character that no entity contains. Without
 * `pauses`, filled pauses are left out, as by `filler_removal` afterwards.
 */
export function renderUtterances(
  masked: MaskedText,
  { style, pauses }: { style: Style; pauses: boolean },
): MaskedSpan[] {
  const marked = new Map<number, MaskedSpan>()
  const isMark = ({ mask, text }: MaskRun) =>
    mask === UNMASKED ? isPunctuationOrPossessive(text) : marked.has(mask)
  return masked.utterances.map(({ words, language }, utterance) => {
    const line: MaskedSpan = { text: '', at: [] }
    for (const word of words.keys()) {
      if (!pauses && language === 'en' && isFilledPause(words, word)) continue
      const base = masked.bases[utterance]![word]!
      const runs = maskRunsOf(masked, { utterance, word, seesMarkers: true })
      const earlier = marked.get(runs[0]?.mask ?? UNMASKED)
      const goesOn = earlier === line || (earlier && runs.every(isMark))
      const target = earlier && goesOn ? earlier : line
      if (!goesOn) separate(line, language)
      for (const { mask, text, from } of runs) {
        if (mask === UNMASKED) writeMask(target, text, base + from)
        else if (style === 'MASK') writeMask(target, maskOf(text))
        else if (!marked.has(mask)) {
          writeMask(target, '#')
          // All markers that the text contained before have one number, but each is one character.
          if (mask > UNMASKED) marked.set(mask, target)
        }
      }
    }
    return line
  })
}

/** Joins utterances into one text, one after the other. */
export function concatenate(
  masked: MaskedText,
  drawn: readonly MaskedSpan[],
  reading: readonly number[],
): JoinedSpans {
  const view: JoinedSpans = { text: '', at: [], interjections: [] }
  const joined = new Set(reading)
  const parts: string[] = []
  let length = 0
  for (const utterance of reading) {
    const { text, at } = drawn[utterance]!
    if (text === '') continue
    if (length > 0 && separatorOf(masked.utterances[utterance]!.language) !== '') {
      parts.push(' ')
      view.at.push(BETWEEN)
      length++
    }
    let before = utterance - 1
    while (before >= 0 && drawn[before]!.text === '') before--
    if (before >= 0 && !joined.has(before)) {
      view.interjections.push({ at: length, text: drawn[before]!.text })
    }
    parts.push(text)
    for (const place of at) view.at.push(place)
    length += text.length
  }
  view.text = foldDigits(parts.join(''))
  return view
}

/**
 * Returns the groups of utterances that are read as one text: those of a channel and, if it has
 * several speakers, those of each speaker, because a dictation continues after others have spoken.
 */
export function readingsOf({ utterances }: Pick<MaskedText, 'utterances'>): number[][] {
  const speakers = new Map<number, Set<number | undefined>>()
  for (const { channel, speaker } of utterances) {
    speakers.set(channel, (speakers.get(channel) ?? new Set()).add(speaker))
  }
  const readings = new Map<string, number[]>()
  for (const [utterance, { channel, language, speaker }] of utterances.entries()) {
    const keys = [`${channel} ${language}`]
    if (speakers.get(channel)!.size > 1) keys.push(`${channel} ${language} ${speaker}`)
    for (const key of keys) {
      const reading = readings.get(key)
      if (reading) reading.push(utterance)
      else readings.set(key, [utterance])
    }
  }
  return [...readings.values()]
}

function separate(line: MaskedSpan, language: string): void {
  if (line.text === '' || separatorOf(language) === '') return
  line.text += ' '
  line.at.push(BETWEEN)
}

function writeMask(line: MaskedSpan, text: string, place?: number): void {
  line.text += text
  for (let i = 0; i < text.length; i++) line.at.push(place === undefined ? HIDDEN : place + i)
}
