import { markers } from '../../redaction/markers/markers.ts'
import { trailingFrom } from '../../words/trailing.ts'
import type { Interjection } from '../document.ts'
import type { Entity } from '../entity-types.ts'

/**
 * A text with the questions that its speaker answers inserted; `toOriginal` maps an entity back to
 * the offsets of the original text.
 */
export type AnsweredQuestion = { text: string; toOriginal(entity: Entity): Entity[] }

/** The longest question, in characters. In longer speech, cues may refer to something else. */
const REACH = 120
/** Requests, also of one word or without a question mark: "And the last name, please." */
const asks =
  /\b(?:(?:sur)?name|number|e-?mail|(?:post|pass)?code|address|street|birth(?:day|date)?|born|d\.?o\.?b|age|zip|pin|password|c ?v ?[cv]2?|last (?:two|three|four|five|six)|social|ssn|sort code|bsb|routing|iban|expir\w+|expiry|extension|account|card|licen[cs]e|passport|policy|registration|plate|reference|spell\w*|digits|tell me|give me|read me)\b/i

/**
 * Inserts the questions of other channels before their responses, so that "What is your date of
 * birth?" is a cue for the date on another channel. Other speech is left out: "mm-hm" would split a
 * number that is being dictated.
 */
export function withQuestions(
  text: string,
  interjections: readonly Interjection[],
): AnsweredQuestion {
  let merged = ''
  let done = 0
  const pieces: { original: number; merged: number; length: number }[] = []
  for (const { at, text: phrase } of interjections) {
    const question = questionOf(phrase)
    if (question === undefined) continue
    pieces.push({ original: done, merged: merged.length, length: at - done })
    merged += `${text.slice(done, at)}${question} `
    done = at
  }
  if (done === 0 && merged === '') return { text, toOriginal: (entity) => [entity] }
  pieces.push({ original: done, merged: merged.length, length: text.length - done })
  merged += text.slice(done)
  return {
    text: merged,
    toOriginal: (entity) =>
      pieces.flatMap((token) => {
        const from = Math.max(entity.from, token.merged)
        const to = Math.min(entity.to, token.merged + token.length)
        const shift = token.original - token.merged
        return from < to ? [{ ...entity, from: from + shift, to: to + shift }] : []
      }),
  }
}

/** The markers of redaction, whose labels are not cues. */
const MARKERS = markers()

/** Returns the last sentence of a turn if it is a question or a request. */
export function questionOf(phrase: string): string | undefined {
  const text = phrase.replace(MARKERS, '#').trimEnd()
  const marks = trailingFrom(text, /[.?!]/)
  const from = trailingFrom(text.slice(0, marks), /[^.?!]/u)
  const last = text.slice(from).trim().slice(-REACH)
  if (!asks.test(last) && !(last.endsWith('?') && last.includes(' '))) return undefined
  return `${last.slice(0, trailingFrom(last, /[.?!]/))}?`
}
