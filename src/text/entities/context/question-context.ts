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
      pieces.flatMap((piece) => {
        const from = Math.max(entity.from, piece.merged)
        const to = Math.min(entity.to, piece.merged + piece.length)
        const shift = piece.original - piece.merged
        return from < to ? [{ ...entity, from: from + shift, to: to + shift }] : []
      }),
  }
}

/** The markers of redaction, whose labels are not cues. */
const MARKERS = markers()

/** Refers to the sentence before: "I've sent you a code. Can you read it back?" */
const refersBack = /\b(?:it|that|this|them|those|these)\b/i

/**
 * Returns the last sentence of a turn if it is a question or a request, with the one before it if
 * that says what it is about.
 */
export function questionOf(phrase: string): string | undefined {
  const { last, before } = splitLastSentence(phrase.replace(MARKERS, '#'))
  if (!asks.test(last) && !(last.endsWith('?') && last.includes(' '))) return undefined
  const question = withoutMarks(last)
  if (asks.test(last) || !refersBack.test(last)) return `${question}?`
  const subject = withoutMarks(splitLastSentence(before).last)
  // The cue comes last, close to the answer.
  return asks.test(subject) ? `${question}, ${subject}?` : `${question}?`
}

function withoutMarks(sentence: string): string {
  return sentence.slice(0, trailingFrom(sentence, /[.?!]/))
}

/** Splits a text before its last sentence, of which it returns at most `REACH` characters. */
function splitLastSentence(phrase: string): { before: string; last: string } {
  const text = phrase.trimEnd()
  const marks = trailingFrom(text, /[.?!]/)
  const from = trailingFrom(text.slice(0, marks), /[^.?!]/u)
  return { before: text.slice(0, from), last: text.slice(from).trim().slice(-REACH) }
}
