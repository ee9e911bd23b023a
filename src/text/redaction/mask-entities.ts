import type { Entity, EntityType } from '../entities/entity-types.ts'
import { findCandidates } from '../entities/find-entities.ts'
import { byRank } from '../entities/matching/overlaps.ts'
import { isFunctionWord } from '../vocabulary/common-words.ts'
import { followsHour } from '../words/sentences/abbreviations.ts'
import { isFilledPause } from '../words/sentences/clause-continuation.ts'
import { trailingFrom } from '../words/trailing.ts'
import {
  BETWEEN,
  concatenate,
  type JoinedSpans,
  readingsOf,
  renderUtterances,
  type Style,
} from './masks/masked-spans.ts'
import { type MaskedText, UNMASKED } from './masks/masked-text.ts'
import { findRepeats } from './repeats/find-repeats.ts'
import { knownWordsOf } from './repeats/known-words.ts'
import { findRepeatable, markRepeatedNumbers } from './repeats/repeated-numbers.ts'
import { toRequestedTypes } from './requested-types.ts'
import { findStrayNumbers } from './stray-numbers.ts'

/**
 * An entity that was masked: its type, and its original text. Its number in the masked text is its
 * index plus one.
 */
export type MaskedEntity = { type: EntityType; original: string }

/**
 * A round masks entities that only the masks of the previous round revealed. Few texts need a third
 * round.
 */
const MAX_ROUNDS = 50

/**
 * Masks the entities of the wanted types, and searches again in the text that is still readable,
 * until it finds nothing. Throws when that does not end.
 */
export function maskEntities(
  masked: MaskedText,
  { wanted, style }: { wanted: ReadonlySet<EntityType>; style: Style },
): MaskedEntity[] {
  const hidden: MaskedEntity[] = []
  const readings = readingsOf(masked)
  const hasPauses = masked.utterances.some(({ words, language }) => {
    return language === 'en' && words.some((_, at) => isFilledPause(words, at))
  })
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const before = hidden.length
    const knownWords = knownWordsOf(hidden, wanted)
    // A filled pause must not split a number, but the words around it may form an entity with it.
    const fluent = hasPauses ? [renderUtterances(masked, { style, pauses: false })] : []
    const renderings = [...fluent, renderUtterances(masked, { style, pauses: true })]
    const claims: EntityInView[] = []
    const guesses: EntityInView[] = []
    const searched = readings.flatMap((reading) => {
      return renderings.map((lines) => {
        const view = concatenate(masked, lines, reading)
        const found = findCandidates(view)
        return { view, found, numbers: findRepeatable(view.text, found) }
      })
    })
    const original = searched.flatMap(({ numbers }) => numbers.map(({ digits }) => digits))
    const repeatedNumbers = markRepeatedNumbers(knownWords.numbers, original)
    for (const { view, found, numbers } of searched) {
      const named = found.flatMap((entity) => toRequestedTypes(view.text, entity, wanted))
      const strayNumbers = findStrayNumbers(view.text, {
        found,
        wanted,
        interjections: view.interjections,
      })
      const repeats = findRepeats(view.text, { known: knownWords, numbers, repeatedNumbers })
      for (const entity of named) claims.push({ ...withoutSentenceEnd(view.text, entity), view })
      for (const entity of [...strayNumbers, ...repeats]) guesses.push({ ...entity, view })
    }
    // Entities of a rule win over guesses, however long the guess is.
    for (const claim of [...claims.sort(byRank), ...guesses.sort(byRank)]) {
      for (const maskedEntity of maskEntity(masked, claim, hidden.length)) hidden.push(maskedEntity)
    }
    if (hidden.length === before) {
      maskFilledPauses(masked)
      return hidden
    }
  }
  throw new Error('redaction finds more in every round')
}

/** Excludes the full stop of "3 p.m." or "D.C." if a new sentence begins after it. */
function withoutSentenceEnd(text: string, entity: Entity): Entity {
  if (!/\b(?:[ap]\.m|D\. ?C)\.$/i.test(text.slice(entity.from, entity.to))) return entity
  const [, next] = /^["'”’)]*(?:$|\s+["'“‘(]*(\p{Lu}[\p{L}'’]*))/u.exec(text.slice(entity.to)) ?? []
  const isEnd = next === undefined ? text.slice(entity.to).trim() === '' : !followsHour(next)
  return isEnd ? { ...entity, to: entity.to - 1 } : entity
}

/** Masks the filled pauses within an entity. */
function maskFilledPauses({ utterances, bases, mask }: MaskedText): void {
  for (const [utterance, { words, language }] of utterances.entries()) {
    let before = UNMASKED
    let pauses: number[] = []
    for (const [at, { text }] of words.entries()) {
      const base = bases[utterance]![at]!
      if (language === 'en' && isFilledPause(words, at)) {
        for (let i = 0; i < text.length; i++) pauses.push(base + i)
        continue
      }
      if (before > UNMASKED && mask[base] === before) for (const i of pauses) mask[i] = before
      pauses = []
      before = mask[base + text.length - 1]!
    }
  }
}

type EntityInView = Entity & { view: JoinedSpans }

/** Masks the characters of an entity that are not masked yet. */
function maskEntity(masked: MaskedText, claim: EntityInView, count: number): MaskedEntity[] {
  const { type, view } = claim
  const hidden: MaskedEntity[] = []
  for (const part of openParts(masked, claim)) {
    // Normalizes a final full stop, so that an abbreviation is the same text with and without it.
    const original = view.text.slice(part.from, part.to).replace(/(\b(?:[ap]\.m|D\. ?C))$/i, '$1.')
    hidden.push({ type, original })
    for (let i = part.from; i < part.to; i++) {
      const place = view.at[i]!
      if (place !== BETWEEN) masked.mask[place] = count + hidden.length
    }
  }
  return hidden
}

type CharacterSpan = { from: number; to: number }

function openParts(masked: MaskedText, { view, from, to }: EntityInView): CharacterSpan[] {
  const isOpen = (i: number) => {
    const place = view.at[i]!
    return place === BETWEEN || (place >= 0 && masked.mask[place] === UNMASKED)
  }
  // A combining mark belongs to the letter before it.
  const markCount = /^\p{M}*/u.exec(view.text.slice(to, to + 16))![0].length
  const parts: CharacterSpan[] = []
  for (let i = from; i < to + markCount; i++) {
    if (!isOpen(i)) continue
    const part = parts.at(-1)
    if (part?.to === i) part.to = i + 1
    else parts.push({ from: i, to: i + 1 })
  }
  const isWhole = parts.length === 1 && parts[0]!.to - parts[0]!.from === to + markCount - from
  if (isWhole)
    return parts.filter(({ from, to }) => /[\p{L}\p{N}]/u.test(view.text.slice(from, to)))
  return parts.map(trimmed(view)).filter(hasContent(view))
}

/**
 * Returns a function that checks whether the rest of an entity reveals something by itself, because
 * it contains a digit or a content word.
 */
function hasContent({ text }: JoinedSpans): (span: CharacterSpan) => boolean {
  return ({ from, to }) => {
    const words = text.slice(from, to).match(/[\p{L}\p{N}'’]+/gu) ?? []
    return words.some((word) => !isFunctionWord(word.toLowerCase()))
  }
}

/** Returns a function that trims the punctuation at the ends of a span. */
function trimmed({ text }: JoinedSpans): (span: CharacterSpan) => CharacterSpan {
  return ({ from, to }) => {
    const original = text.slice(from, to)
    const open = /^[^\p{L}\p{N}]*/u.exec(original)![0].length
    const close = trailingFrom(original, /[^\p{L}\p{M}\p{N}]/u)
    return { from: from + open, to: from + Math.max(open, close) }
  }
}
