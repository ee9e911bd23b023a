import type { Entity, EntityType } from '../entity-types.ts'
import { lead } from '../matching.ts'
import { isUncased, type Piece } from '../pieces.ts'
import { tagsOf } from '../word-lists.ts'
import { isListedPlace } from './gazetteer.ts'
import {
  endOfName,
  isAcronym,
  isFamily,
  isGiven,
  isPlaceName,
  isUnknown,
  isWordLike,
  particles,
  small,
} from './name-words.ts'
import {
  coordinated,
  familyAlone,
  givenAlone,
  givenUncased,
  isFamilyBehind,
} from './single-names.ts'
import { findSpelled } from './spelled-names.ts'

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
/** Titles that mean nothing else, so that a name behind them needs no capital. */
const titles = /^(?:mr|mrs|ms|mister|dr)\.?$/
const kin = new Set([
  ...['sister', 'brother', 'son', 'daughter', 'wife', 'husband', 'mother', 'father', 'mom', 'dad'],
  ...['uncle', 'aunt', 'cousin', 'nephew', 'niece', 'friend', 'friends', 'boss', 'manager'],
  ...['colleague', 'coworker', 'neighbor', 'neighbour', 'partner', 'girlfriend', 'boyfriend'],
  ...['fiancé', 'fiancée', 'host', 'co-host', 'guest', 'roommate', 'assistant'],
])
const familyCue = new RegExp(`\\b(?:last name|surname|family name|maiden name)${lead}`, 'iu')
const givenCue = new RegExp(`\\b(?:first|given|middle) name${lead}`, 'iu')
const fullCue = new RegExp(
  `\\b(?:my|his|her|full|the|your|whose|customer|patient)(?: full)? name${lead}`,
  'iu',
)
const whoCue =
  /\b(?:who am I (?:speaking|talking) (?:with|to)|who is this|who's this|who's calling|who is calling)(?: today| please)?[,?. ]+(?:(?:this is|it's|my name's|yes|hi|um|uh)[,.]? )*$/i

/** Finds names of people: by titles, introductions, and the lists of given and family names. */
export function findNames(text: string, pieces: readonly Piece[]): Entity[] {
  const found: Entity[] = []
  const add = (type: EntityType, [begin, end]: [number, number], score: number) => {
    found.push({ type, from: pieces[begin]!.from, to: pieces[end - 1]!.to, score })
  }
  const uncased = isUncased(text)
  for (let at = 0; at < pieces.length; ) {
    const piece = pieces[at]!
    const cue = cueBefore(text, piece, pieces[at - 1])
    const name = isAcronym(piece)
      ? undefined
      : (readName(pieces, at, cue) ?? (uncased ? givenUncased(pieces, at) : undefined))
    if (!name) {
      at++
      continue
    }
    add(name.type, [at, name.end], name.score)
    at = name.end
  }
  return [...found, ...coordinated(pieces, found), ...findSpelled(text, found)]
}

type NameCue = 'medical' | 'civil' | 'family' | 'given' | 'full' | 'introduced' | undefined

function cueBefore(text: string, piece: Piece, previous: Piece | undefined): NameCue {
  if (previous && medical.has(previous.lower) && piece.capital && !previous.closed) return 'medical'
  if (previous?.capital && civil.has(previous.lower) && piece.capital && !previous.closed)
    return 'civil'
  if (previous && titles.test(previous.lower) && !previous.closed && isFamilyBehind(piece))
    return 'civil'
  const left = text.slice(Math.max(0, piece.from - 70), piece.from).replace(/’/g, "'")
  if (familyCue.test(left)) return 'family'
  if (givenCue.test(left)) return 'given'
  if (fullCue.test(left)) return 'full'
  if (whoCue.test(left)) return 'introduced'
  if (previous && kin.has(previous.lower) && (!previous.closed || previous.comma))
    return 'introduced'
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
  if (!piece.capital && cue === 'civil')
    return { type: 'NAME_FAMILY' as const, end: at + 1, score: 0.8 }
  if (!piece.capital && !(cue === 'full' || cue === 'given')) return undefined
  const end = endOfName(pieces, at)
  const single = end === at + 1
  // "Mrs. Van Dyke" is a family name of two words.
  const isFamilyAlone = single || particles.has(piece.lower)
  if (cue === 'medical' && end > at)
    return { type: 'NAME_MEDICAL_PROFESSIONAL' as const, end, score: 0.9 }
  if (cue === 'civil' && end > at)
    return { type: isFamilyAlone ? ('NAME_FAMILY' as const) : ('NAME' as const), end, score: 0.9 }
  if (cue === 'family' && (end > at || (piece.capital && !piece.initial)))
    return { type: 'NAME_FAMILY' as const, end: Math.max(end, at + 1), score: 0.9 }
  if (!piece.capital) return givenUncased(pieces, at, true)
  if (cue === 'given' || cue === 'full') {
    const none = small.has(piece.lower) || piece.initial
    const last = Math.max(end, none ? at : at + 1)
    if (last === at) return undefined
    const one = cue === 'full' && isFamily(piece.lower) && !isGiven(piece.lower)
    const alone = one ? ('NAME_FAMILY' as const) : ('NAME_GIVEN' as const)
    return {
      type: last === at + 1 ? alone : ('NAME' as const),
      end: last,
      score: 0.9,
    }
  }
  if (end === at) return undefined
  if (!single) return fullName(pieces, at, end, cue)
  return givenAlone(pieces, at, cue === 'introduced') ?? familyAlone(pieces, at)
}

function fullName(pieces: readonly Piece[], at: number, end: number, cue: NameCue) {
  const part = pieces.slice(at, end)
  if (isListedPlace(part)) return undefined
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
