import { wordList } from '../../words/word-lists.ts'
import { amount } from '../amounts/quantities.ts'
import type { Entity } from '../entity-types.ts'
import { type EntityPattern, matchPatterns, precedingText } from '../matching/matching.ts'
import { isUncased } from '../matching/word-tokens.ts'
import { isOrdinaryWord } from './name-words.ts'

const street =
  '(?:[Ss]treet|[Ss]t\\.|[Aa]venue|Ave\\.?|[Rr]oad|Rd\\.?|[Ll]ane|Ln\\.?|[Dd]rive|[Bb]oulevard|Blvd\\.?|[Cc]ourt|[Pp]lace|[Tt]errace|[Ww]ay|[Cc]ircle|[Hh]ighway|[Pp]arkway|[Ss]quare|[Aa]lley|[Cc]rescent|[Cc]lose|[Gg]ardens?|[Mm]ews|[Gg]rove|[Tt]rail|[Pp]ike|[Cc]ove|[Pp]laza|[Tt]urnpike|[Qq]uay|[Ww]harf)'
/** Kinds of streets with another meaning, which do not match after a year: "1990 Central Park". */
const ambiguousStreet =
  '(?:Park|Hill|View|Walk|Rise|Row|Loop|Point|Run|Green|Path|Pass|Ridge|Heights|Bend|Crossing)'
const direction =
  '(?:(?:North|South)(?:[ -]?[Ee]ast|[ -]?[Ww]est)?|East|West|N\\.?[EW]?\\.?|S\\.?[EW]?\\.?)'
const flat = '(?:(?:[Ff]lat|[Uu]nit|[Aa]partment|[Aa]pt\\.?|[Ss]uite) (?:[\\p{L}\\d]{1,6}),? )?'
const cap = "(?:[A-Z][\\p{L}'’]{1,40}|\\d{1,4}(?:st|nd|rd|th))"
/** A word of a street's name; companies have names such as "Smith & Sons" and "A&W". */
const streetName = `(?:[A-Z][\\p{L}'’]{0,40}(?:(?: ?& ?| and )[A-Z][\\p{L}'’]{0,40}){1,3}|${cap})`
const company =
  '(?:Inc|Incorporated|Corp|Corporation|LLC|Ltd|Limited|GmbH|Company|Holdings|Industries|Bank|Insurance|Airlines|Group|Partners|Technologies|Systems|Solutions|Motors|University|College|Institute|Foundation|Association|Credit Union|Agency|Ministry|Department)'

/** Insurance that is no company. */
const noInsurer = '(?:National|Social|Health|Life|Car|Home|Travel|Pet) Insurance'

/** The words of house numbers, which are read as numbers or digit by digit: "nine oh one". */
const numberWord =
  '(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)'
const digitWord = '(?:zero|oh|one|two|three|four|five|six|seven|eight|nine)'
const more = `(?:[ -](?:and )?(?:${numberWord}|hundred|zero|nought|oh))`
const capitalizedNumberWord = numberWord.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
/** A number that begins a sentence has a capital: "Forty two Maple Avenue." */
const house = `(?:${numberWord}${more}{1,6}|${capitalizedNumberWord}${more}{0,6})(?!\\p{L})`

/** The number of a house after its street: "Maple Street, number forty-two". */
const houseAfter = `[,.]? (?:(?:at|it's|that's|house) )?[Nn]umber (?:${amount}|${house})`
/** Houses with a name, which only a cue shows to be an address: "Hawthorn House". */
const building = '(?:House|Cottage|Rectory|Lodge|Hall|Farm|Barn|Manor|Villas?|Towers?|Apartments)'

const flatAfter = `(?:[Ff]lat|[Aa]partment|[Aa]pt\\.?|[Ss]uite|[Uu]nit) (?:${amount}|[A-Z])(?: ?[A-Z]\\b)?`

/** The beginning of a British postal code; only these areas have a single letter. */
const postalArea = '(?:[BEGLMNSW]|[A-Z] ?[A-Z])'

/**
 * The words of a pattern have a limited length: in an endless word, each letter would be tried
 * against all other letters.
 */
const patterns: EntityPattern[] = [
  {
    type: 'LOCATION_ADDRESS_STREET',
    pattern: new RegExp(
      `\\b${flat}(?:(?:${amount}|${house})(?: ?[A-Za-z]\\b)?,? (?:(?:North|South|East|West|N\\.|S\\.|E\\.|W\\.) )?(?:${streetName} ){1,5}${street}|(?!(?:19|20)\\d\\d )(?:${amount}|${house})(?: ?[A-Za-z]\\b)?,? (?:${streetName} ){1,3}${ambiguousStreet})(?![\\p{L}])(?: ${direction}(?![\\p{L}]))?(?:,? ${flatAfter})?`,
      'gu',
    ),
    score: 0.9,
  },
  {
    type: 'LOCATION_ADDRESS_STREET',
    pattern: new RegExp(
      `\\b(?:${streetName} ){1,3}${street}${houseAfter}(?=[.,?!]|$| and\\b)`,
      'gu',
    ),
    score: 0.9,
  },
  // After a cue, any name of a street matches.
  {
    type: 'LOCATION_ADDRESS_STREET',
    pattern: new RegExp(
      `\\b(?:[Aa]ddress(?: is|,|:|[^.?!]{0,20}\\?)|[Ww]here [^.?!]{1,30}\\b(?:lives?|living|ship|send|deliver|mail)\\b[^.?!]{0,20}\\?|(?:live|lives|living|located) (?:at|on)|(?:ship|send|deliver)(?:ed)? (?:it |them )?to) (?:(?:[Aa]t|[Ii]t's|[Yy]es|[Ss]ure|[Uu]m|[Uu]h),? ){0,2}(?<e>${flat}(?:(?:${amount}|${house})(?: ?[A-Za-z]\\b)?,? (?:${streetName}(?: |(?=[.,?!]|$))){1,4}(?:,? ${flatAfter})?|${streetName} \\d{1,4}(?!\\d)))(?<! )`,
      'gu',
    ),
    score: 0.7,
  },
  {
    type: 'LOCATION_ADDRESS_STREET',
    pattern:
      /\bP\.? ?O\.? [Bb]ox (?:\d+|\w+(?: (?:one|two|three|four|five|six|seven|eight|nine|zero))*)/g,
    score: 0.9,
  },
  {
    type: 'LOCATION_ADDRESS_STREET',
    pattern: new RegExp(
      `\\b(?:[Oo]n|[Aa]t|[Ii]n|live|lives|along|of|and|near|off|down|to|from) (?<e>(?:${cap} ){1,2}(?:Street|Avenue|Road|Lane|Boulevard|Drive))(?![\\p{L}])`,
      'gu',
    ),
    score: 0.8,
  },
  {
    type: 'ORGANIZATION_MEDICAL_FACILITY',
    pattern:
      /(?<!\p{L})(?:(?:St\.|Saint|[A-Z]\p{L}{1,40}(?:['’]s)?) ){1,3}(?:(?:General|Community|Memorial|Children's|University) )?(?:Hospital|Clinic|Medical Center|Medical Centre|Health Center|Hospice|Infirmary|Pharmacy)(?!\p{L})/gu,
    score: 0.9,
  },
  {
    type: 'ORGANIZATION',
    pattern: new RegExp(
      `(?<![\\p{L}])(?!(?:The|This|That|My|Your|Our|Their|His|Her|A|An|Is|In|At|To|And|Or) |${noInsurer}(?! [A-Z][a-z]))(?:[A-Z][\\p{L}&-]{1,40} ){1,3}${company}(?![\\p{L}])`,
      'gu',
    ),
    score: 0.8,
  },
  {
    type: 'ORGANIZATION',
    pattern:
      /(?<!\p{L})(?:University|Bank|Department|Ministry|Institute|College|Church) of (?:[A-Z]\p{L}{1,40})(?: [A-Z]\p{L}{1,40})?/gu,
    score: 0.85,
  },
  {
    type: 'ORGANIZATION',
    pattern:
      /\b(?:works? (?:for|at)|worked (?:for|at)|working (?:for|at)|employed (?:by|at)|job at|employer is|calling from|company called) (?<e>[A-Z][\p{L}&-]{1,40}(?: [A-Z][\p{L}&-]{1,40}){0,2})(?!\p{L})/gu,
    score: 0.6,
  },
  {
    type: 'LOCATION',
    pattern: new RegExp(
      `(?<!\\p{L})(?:(?:Lake|Mount|Mt\\.|Cape|Fort) ${cap}|(?!(?:The|This|That|My|Your|Our|A|An|And|In|At|To) )(?:${cap} ){1,2}(?:Lake|Valley|River|Mountains?|Canyon|Beach|Islands?|Bay|Desert|Falls|Forest|National Park|Ocean|Peninsula|Hills|Airport))(?!\\p{L})`,
      'gu',
    ),
    score: 0.75,
  },
  { type: 'LOCATION_CITY', pattern: /\bWashington,? D\. ?C\./g, score: 0.95 },
  {
    type: 'LOCATION_CITY',
    pattern: /(?<![\p{L}.])D\.C\.(?! (?:power|current|voltage|motor|circuit|adapter|[Cc]omics))/gu,
    score: 0.8,
  },
  {
    type: 'LOCATION_ZIP',
    pattern:
      /\b(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY]) (?<e>\d{5}(?:-\d{4})?)\b/g,
    score: 0.9,
  },
  { type: 'LOCATION_ZIP', pattern: /\b[A-CEGHJ-NPRSTVXY]\d[A-Z] ?\d[A-Z]\d\b/g, score: 0.9 },
  {
    type: 'LOCATION_ZIP',
    pattern: /\b(?:[BEGLMNSW]|[A-Z]{2})\d[A-Z\d]? \d[A-Z]{2}\b/g,
    score: 0.9,
  },
  // British postal codes that are read aloud: "B S eight, one Q E".
  {
    type: 'LOCATION_ZIP',
    pattern: new RegExp(
      `\\b${postalArea} ?(?:${numberWord}|zero|oh|\\d)(?:[ -](?:${digitWord}|\\d|[A-Z]))?,? (?:${digitWord}|\\d) ?[ABD-HJLNP-UW-Z] ?[ABD-HJLNP-UW-Z]\\b`,
      'g',
    ),
    score: 0.7,
  },
]

/** "Eugene, Oregon": a place before its state, even if no list contains the place. */
const beforeState = new RegExp(
  `\\b(?:(?:in|from|to|near|at|of|outside|around) |(?<=[,.] )|(?<=^))(?<e>${cap}(?: ${cap}){0,2})(?=,? (?:${wordList('places/us-states').join('|')})\\b)`,
  'gu',
)

const noStreetName =
  '(?!(?:the|a|an|of|on|in|down|to|and|or|at|by|up|along|off|minutes?|hours?|miles?|blocks?|people|more|other|new|old|main|side|busy|dirt|lane|way|car|story|storey|bedroom|star|hundred|thousand)\\b)'
/** Streets without capitals: "forty two maple avenue". */
const uncasedStreet: EntityPattern = {
  type: 'LOCATION_ADDRESS_STREET',
  pattern: new RegExp(
    `\\b(?:${amount}|${house}) (?:${noStreetName}\\p{Ll}{2,20} ){1,2}(?:street|avenue|road|lane|boulevard|crescent|terrace)\\b`,
    'gu',
  ),
  score: 0.8,
}
/** In a text with capitals, such a street needs a cue, and is then found in more forms. */
const cuedStreet: EntityPattern = {
  type: 'LOCATION_ADDRESS_STREET',
  pattern: new RegExp(
    `\\b(?:[Ff]lat [\\p{L}\\d]{1,6},? )?(?!an? )(?:${amount}|${house})(?: ?[A-Za-z]\\b)?,? (?:${noStreetName}[\\p{Ll}’']{2,20} ){1,2}(?:street|avenue|road|lane|boulevard|crescent|terrace|drive|close|court|place|gardens?|grove|mews|square)\\b`,
    'gu',
  ),
  score: 0.8,
}
/** A street after a cue, with a pause behind its number, or without a number. */
const answeredStreet: EntityPattern = {
  type: 'LOCATION_ADDRESS_STREET',
  pattern: new RegExp(
    `\\b(?:(?:${amount}|${house})[,.] )?(?:${streetName} ){1,3}(?:${street}|${building})(?![\\p{L}])`,
    'gu',
  ),
  score: 0.8,
}
const streetCue =
  /\b(?:address|lives?|lived|living|located|moved to|house number)\b[^.?!]{0,40}(?:\?[^.?!]{0,25})?$/i

/** Finds streets that only a cue shows to be one, and streets in a text without capitals. */
function findAnsweredStreets(text: string): Entity[] {
  if (isUncased(text)) return matchPatterns(text, [uncasedStreet])
  return matchPatterns(text, [cuedStreet, answeredStreet]).filter(({ from }) => {
    return streetCue.test(precedingText(text, from, 80))
  })
}

/** Finds streets, postal codes by shape, and clinics and companies by their second word. */
export function findPlaces(text: string): Entity[] {
  const cities = matchPatterns(text, [{ type: 'LOCATION_CITY', pattern: beforeState, score: 0.85 }])
  const namesakes = matchPatterns(text, [{ type: 'LOCATION_CITY', pattern: namesake, score: 0.86 }])
  return [
    ...matchPatterns(text, patterns),
    ...findAnsweredStreets(text),
    ...namesakes,
    ...cities.filter((city) => isCity(text, city)),
  ]
}

/**
 * "I live in Hamilton", "she flew to Madison": the context shows a city, although it may also be a
 * person's name.
 */
const namesake = new RegExp(
  `\\b(?:(?:downtown|in|near|outside) |(?:born|based|located|raised|originally|(?:I'm|I am|is|are|was|were|(?:he|she|we|they)['’](?:s|re)) from|fl(?:y|ies|ew|ying)|driv(?:e|es|ing)|drove|mov(?:e|es|ed|ing)|travel\\w*|going|went|back|trip|train|bus|flight) (?:in |to |from )?)(?<e>${wordList('places/namesake-cities').join('|')})(?![\\p{L}'’-]| [A-Z])`,
  'gu',
)

/**
 * Returns whether the text before a state is a city. Common words before it only begin a sentence
 * that addresses a person ("Well, Virginia").
 */
function isCity(text: string, { from, to }: Entity): boolean {
  const place = text.slice(from, to).toLowerCase()
  const inside = /\b(?:in|from|to|near|at|of|outside|around) $/.test(precedingText(text, from, 12))
  return inside || (!isOrdinaryWord(place) && /^,/.test(text.slice(to)) && !/^\w+ \w+ /.test(place))
}

const joinable = new Set(['LOCATION_CITY', 'LOCATION_STATE', 'LOCATION_ZIP', 'LOCATION_COUNTRY'])

/** Joins whole addresses: a street with the city, state and postal code that follow it. */
export function joinAddresses(text: string, entities: readonly Entity[]): Entity[] {
  return entities
    .filter(({ type }) => type === 'LOCATION_ADDRESS_STREET')
    .flatMap(({ from, to, score }) => {
      const end = extendPlace(text, to, entities)
      return end === to ? [] : [{ type: 'LOCATION_ADDRESS' as const, from, to: end, score }]
    })
}

function extendPlace(text: string, to: number, entities: readonly Entity[]): number {
  const next = entities.find(
    ({ type, from }) =>
      joinable.has(type) && from > to && /^[\s,.]*(?:in )?$/.test(text.slice(to, from)),
  )
  if (next) return extendPlace(text, next.to, entities)
  const zip = /^,? (?:[A-Z]{2} )?\d{5}(?:-\d{4})?\b/.exec(text.slice(to, to + 20))
  return zip ? to + zip[0].length : to
}
