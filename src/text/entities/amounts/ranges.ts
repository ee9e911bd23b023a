import type { Entity, EntityType } from '../entity-types.ts'
import { precedingText } from '../matching/matching.ts'
import { amount } from './quantities.ts'

const clock = '(?:[01]?\\d|2[0-3]):[0-5]\\d'
/**
 * What may precede a bound: no letter, digit or sign, and nothing that makes it the end of a time,
 * as in half past nine, or of a sum, as in five pounds fifty. The bound is no telephone number.
 */
const start =
  '(?<![\\p{L}\\d][.,:-]?)(?<!\\d )(?<![$€£¥#] ?)(?<!\\b(?:past|quarter (?:to|after|of)|dollars?|pounds?|euros?) )(?!\\d{7})'
const joint =
  '(?:\\s?[-–]\\s?|,? (?:to|or|through|until|till) (?:about |around |maybe |even |at )?)'

const lowerBound = new RegExp(
  `${start}(?<e>(?:${clock}|${amount})${joint})$|\\bbetween (?<b>(?!\\d{7})(?:${clock}|${amount}) and )$`,
  'iu',
)
const sumEnds =
  '(?=[,.;?!]?$|[,.;?!] |\\s(?:an?|per|each|every|and|but|or|for|if|in|on|at|are|is|was|now)\\b)'
const upperSum = new RegExp(`^${joint}${amount}${sumEnds}`, 'iu')
const upperAge = new RegExp(`^${joint}${amount}(?![\\p{L}\\d%]|[.,:]\\d)`, 'iu')
/** An amount without a unit, whose range may end with another number. */
const endsInNumber = new RegExp(`(?:^|[^\\p{L}\\d])${amount}$`, 'iu')

const types = new Set<EntityType>([
  ...(['MONEY', 'STATISTICS', 'AGE', 'DURATION', 'DOSE', 'TIME', 'PHYSICAL_ATTRIBUTE'] as const),
])

/**
 * Extends an amount to the range that it begins: "25 to 30 minutes", "between nine and 5 p.m.",
 * "$10-15". Returns other entities unchanged.
 */
export function withRange(text: string, entity: Entity): Entity {
  if (!types.has(entity.type)) return entity
  const { e, b } = lowerBound.exec(precedingText(text, entity.from))?.groups ?? {}
  const from = entity.from - (e ?? b ?? '').length
  const isBare = endsInNumber.test(text.slice(entity.from, entity.to))
  const upper = entity.type === 'AGE' ? upperAge : upperSum
  const [upperText = ''] = (isBare && upper.exec(text.slice(entity.to, entity.to + 60))) || []
  return { ...entity, from, to: entity.to + upperText.length }
}
