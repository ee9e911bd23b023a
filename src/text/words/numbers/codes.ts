import type { Transcript, Word } from '../../../transcript/transcript.ts'
import { documentsOf, tokensWithin } from '../../entities/document.ts'
import { type EntityType, languages } from '../../entities/entity-types.ts'
import { findEntities } from '../../entities/find-entities.ts'
import { wordPartsOf } from '../word-parts.ts'
import { LABEL } from './number-context.ts'

/** Entities whose digits are not a quantity. */
const CODE_TYPES: ReadonlySet<EntityType> = new Set([
  ...(['ACCOUNT_NUMBER', 'BANK_ACCOUNT', 'CREDIT_CARD', 'CREDIT_CARD_EXPIRATION', 'CVV'] as const),
  ...(['DRIVER_LICENSE', 'EMAIL_ADDRESS', 'FILENAME', 'HEALTHCARE_NUMBER', 'IP_ADDRESS'] as const),
  ...(['LOCATION_ADDRESS_STREET', 'LOCATION_COORDINATE', 'LOCATION_ZIP', 'MEDICAL_CODE'] as const),
  ...(['NUMERICAL_PII', 'ORGANIZATION_ID', 'PASSPORT_NUMBER', 'PASSWORD', 'PHONE_NUMBER'] as const),
  ...(['ROUTING_NUMBER', 'SSN', 'URL', 'USERNAME', 'VEHICLE_ID'] as const),
])

/** Numbers of three digits that people call: 911, 988, 999, 112. */
const CALLED = /^(?:[2-9]11|988|999|112)$/
const BEFORE_CALLED = /^(?:call(?:s|ed|ing)?|dial(?:s|ed|ing)?|phone[ds]?|phoning|rang|ring)$/

/**
 * Returns the words whose digits are a name or a code, such as a phone number, an address or a ZIP
 * code: they are not a quantity, and half of one in words would be unreadable.
 */
export function codeWordsOf(transcript: Transcript): Set<Word> {
  const codes = wordsOfEntities(transcript)
  for (const { words } of transcript.utterances) {
    for (const [i, word] of words.entries()) {
      if (isPartOfCode(words, i)) codes.add(word)
    }
  }
  return codes
}

function wordsOfEntities(transcript: Transcript): Set<Word> {
  const documents = documentsOf(transcript)
  // The documents have the words of each channel in order.
  const utterances = transcript.utterances.toSorted((a, b) => a.channel - b.channel)
  const words = utterances.flatMap((utterance) => utterance.words)
  const tokens = documents.flatMap((document) => document.tokens)
  const wordByToken = new Map(tokens.map((token, i) => [token, words[i]!]))
  const codes = documents
    .filter(({ language }) => languages.includes(language))
    .flatMap((document) => {
      return findEntities(document, CODE_TYPES).flatMap((entity) => tokensWithin(document, entity))
    })
  return new Set(codes.map((token) => wordByToken.get(token)!))
}

/** Returns whether a word is one of several numbers in a row, or a number after its label. */
function isPartOfCode(words: readonly Word[], at: number): boolean {
  if (isInRow(words, at) || isInRow(words, at + 1)) return true
  const { core } = wordPartsOf(words[at]!.text)
  const before = wordPartsOf(words[at - 1]?.text ?? '').core.toLowerCase()
  if (BEFORE_CALLED.test(before) && CALLED.test(core)) return true
  return LABEL.test(before) && /\d[\d.]\d/.test(core)
}

/** Returns whether a word and the one before it have digits, and no mark separates them. */
function isInRow(words: readonly Word[], at: number): boolean {
  const [before, word] = [words[at - 1], words[at]]
  if (!before || !word) return false
  return /\d$/.test(before.text) && /^\d/.test(word.text)
}
