import type { Entity, EntityType } from './entity-types.ts'
import {
  endOfName,
  isFamily,
  isGiven,
  isMonthName,
  isPlaceName,
  isUnknown,
  isWordLike,
  particles,
  small,
} from './name-words.ts'
import type { Piece } from './pieces.ts'
import { tagsOf } from './word-lists.ts'

const medical = new Set(['dr', 'doctor', 'nurse', 'surgeon', 'dr.'])
const civil = new Set([
  'mr',
  'mrs',
  'ms',
  'miss',
  'mister',
  'sir',
  'madam',
  'professor',
  'prof',
  'senator',
  'officer',
  'judge',
  'captain',
  'sergeant',
  'detective',
  'president',
])
const places =
  /^(?:in|to|from|near|of|through|around|toward|towards|visit|visiting|downtown|into|via|outside)$/

/** Names of people: by titles, introductions, and the lists of given and family names. */
export function findNames(text: string, pieces: readonly Piece[]): Entity[] {
  const found: Entity[] = []
  const add = (type: EntityType, [begin, end]: [number, number], score: number) => {
    found.push({ type, from: pieces[begin]!.from, to: pieces[end - 1]!.to, score })
  }
  for (let at = 0; at < pieces.length; ) {
    const piece = pieces[at]!
    const cue = cueBefore(text, piece, pieces[at - 1])
    const name = readName(pieces, at, cue)
    if (!name) {
      at++
      continue
    }
    add(name.type, [at, name.end], name.score)
    at = name.end
  }
  return [...found, ...coordinated(pieces, found), ...spelled(text, found)]
}

type NameCue = 'medical' | 'civil' | 'family' | 'given' | 'full' | 'introduced' | undefined

function cueBefore(text: string, piece: Piece, previous: Piece | undefined): NameCue {
  if (previous && medical.has(previous.lower) && piece.capital && !previous.closed) return 'medical'
  if (previous?.capital && civil.has(previous.lower) && piece.capital && !previous.closed)
    return 'civil'
  const left = text.slice(Math.max(0, piece.from - 40), piece.from)
  if (/\b(?:last name|surname|family name|maiden name)(?:'s| is| was|:|,| would be)* $/i.test(left))
    return 'family'
  if (/\b(?:first|given|middle) name(?:'s| is| was|:|,| would be)* $/i.test(left)) return 'given'
  if (
    /\b(?:my|his|her|full|the|your|whose|customer|patient)(?: full)? name(?:'s| is| was|:|,| would be)* $/i.test(
      left,
    )
  )
    return 'full'
  if (
    /\b(?:I'm|I am|this is|it's|speaking (?:with|to)|(?:talk|talking|speak|spoke) to|speak with|met with|spoke (?:with|to)|named|called|call me|ask for|name is|regards to|sincerely,|dear|hi|hello|hey|thanks,|thank you,)(?: the late)? $/i.test(
      left,
    )
  )
    return 'introduced'
  return undefined
}

function readName(pieces: readonly Piece[], at: number, cue: NameCue) {
  const piece = pieces[at]!
  if (!piece.capital && !(cue === 'full' || cue === 'given')) return undefined
  const end = endOfName(pieces, at)
  const single = end === at + 1
  // "Mrs. Van Dyke" is a family name of two words.
  const isFamilyAlone = single || particles.has(piece.lower)
  if (cue === 'medical' && end > at)
    return { type: 'NAME_MEDICAL_PROFESSIONAL' as const, end, score: 0.9 }
  if (cue === 'civil' && end > at)
    return { type: isFamilyAlone ? ('NAME_FAMILY' as const) : ('NAME' as const), end, score: 0.9 }
  if (cue === 'family' && (end > at || piece.capital))
    return { type: 'NAME_FAMILY' as const, end: Math.max(end, at + 1), score: 0.9 }
  if (!piece.capital)
    return isGiven(piece.lower) && !isWordLike(piece.lower)
      ? { type: 'NAME_GIVEN' as const, end: at + 1, score: 0.7 }
      : undefined
  if (cue === 'given' || cue === 'full') {
    const last = Math.max(end, small.has(piece.lower) ? at : at + 1)
    if (last === at) return undefined
    return {
      type: last === at + 1 ? ('NAME_GIVEN' as const) : ('NAME' as const),
      end: last,
      score: 0.9,
    }
  }
  if (end === at) return undefined
  if (!single) return fullName(pieces, at, end, cue)
  return alone(pieces, at, cue)
}

function fullName(pieces: readonly Piece[], at: number, end: number, cue: NameCue) {
  const part = pieces.slice(at, end)
  const first = part[0]!
  const known = isGiven(first.lower)
  const rest = part.slice(1)
  const withFamily = rest.some(({ lower }) => isFamily(lower))
  const hedged = isWordLike(first.lower) && first.initial
  if (known && (!hedged || withFamily)) return { type: 'NAME' as const, end, score: 0.85 }
  if (cue === 'introduced') return { type: 'NAME' as const, end, score: 0.8 }
  if (!first.initial && withFamily && !isPlaceName(first))
    return { type: 'NAME' as const, end, score: 0.7 }
  if (
    first.initial &&
    withFamily &&
    isUnknown(first) &&
    tagsOf(first.lower).length === 0 &&
    first.text.length > 3
  )
    return { type: 'NAME' as const, end, score: 0.6 }
  return undefined
}

function alone(pieces: readonly Piece[], at: number, cue: NameCue) {
  const piece = pieces[at]!
  const result = { type: 'NAME_GIVEN' as const, end: at + 1, score: 0.75 }
  if (
    cue === 'introduced' &&
    (isGiven(piece.lower) || (tagsOf(piece.lower).length === 0 && isUnknown(piece)))
  )
    return result
  if (!isGiven(piece.lower)) return undefined
  const previous = pieces[at - 1]
  if (previous && places.test(previous.lower) && (isPlaceName(piece) || isWordLike(piece.lower)))
    return undefined
  if (isMonthName(piece.lower)) return undefined
  if (!isWordLike(piece.lower)) return result
  const next = pieces[at + 1]
  const beside =
    next?.lower === 'and' || previous?.lower === 'and'
      ? pieces[next?.lower === 'and' ? at + 2 : at - 2]
      : undefined
  if (beside?.capital && isGiven(beside.lower)) return { ...result, score: 0.85 }
  if (piece.initial || isPlaceName(piece)) return undefined
  return isFamily(piece.lower) && !isGiven(piece.lower) ? undefined : result
}

/** "Tom, Anita and Kwame": an unknown capitalised word beside a name is one too. */
function coordinated(pieces: readonly Piece[], found: readonly Entity[]): Entity[] {
  const named = new Set(
    found.filter(({ type }) => /^NAME(?:_GIVEN)?$/.test(type)).map(({ to }) => to),
  )
  const begins = new Set(found.map(({ from }) => from))
  return pieces.flatMap((piece, at) => {
    const [comma, before] = [pieces[at - 1], pieces[at - 2]]
    const joined =
      comma && /^(?:and|or)$/.test(comma.lower) ? before : comma?.comma ? comma : undefined
    if (!joined || !named.has(joined.to) || begins.has(piece.from)) return []
    if (piece.initial || !isUnknown(piece) || tagsOf(piece.lower).length > 0) return []
    return [{ type: 'NAME_GIVEN' as const, from: piece.from, to: piece.to, score: 0.6 }]
  })
}

/** "S M I T H", "S-M-I-T-H", after "name" or "spell". */
function spelled(text: string, found: readonly Entity[]): Entity[] {
  return Array.from(
    text.matchAll(/\b[A-Z](?:[ ,.-]{1,2}[A-Z]){2,30}\b/g),
    ({ 0: letters, index }) => {
      const left = text.slice(Math.max(0, index - 40), index)
      if (!/\b(?:name|spell\w*|spelt)\b/i.test(left)) return []
      const word = letters.replace(/[^A-Z]/g, '').toLowerCase()
      const named = found.find(({ from, to }) => text.slice(from, to).toLowerCase() === word)
      const first = named ? named.type === 'NAME_GIVEN' : /\bfirst name\b/i.test(left)
      const type: EntityType = first ? 'NAME_GIVEN' : 'NAME_FAMILY'
      return [{ type, from: index, to: index + letters.length, score: 0.8 }]
    },
  ).flat()
}
