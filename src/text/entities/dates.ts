import { amount } from './amounts/quantities.ts'
import { withRange } from './amounts/ranges.ts'
import { withoutCorrectedDay } from './digits/corrections.ts'
import { ordinal } from './digits/ordinals.ts'
import type { Entity } from './entity-types.ts'
import {
  type EntityPattern,
  leadPattern,
  matchPatterns,
  precedingText,
} from './matching/matching.ts'
import { isUncased } from './matching/word-tokens.ts'

const unit = '(?:one|two|three|four|five|six|seven|eight|nine)'
const teen = '(?:ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen)'
const ten = '(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)'
const month =
  '(?:January|February|March|April|May|June|July|August|September|October|November|December|Jan\\.|Feb\\.|Aug\\.|Sept?\\.|Oct\\.|Nov\\.|Dec\\.)'
const weekday = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)'
const dayOfMonth = `(?:[0-3]?\\d(?:st|nd|rd|th)?(?![\\d:]| ?[ap]\\.?m\\b)|${ordinal}|(?:twenty|thirty)[ -]${unit}|${teen}|twenty|thirty|${unit})\\b`
const year = `(?:(?:19|20)\\d\\d(?![\\d,.]\\d|\\d)|(?:nineteen|twenty) (?:${ten}(?:[ -]${unit})?|${teen}|(?:oh|o) ${unit})|two thousand(?: and)?(?: (?:${ten}(?:[ -]${unit})?|${unit}|${teen}))?)\\b`
const calendar = `(?:(?:the )?${dayOfMonth}(?: day)?(?: of)? ${month}|${month},? (?:the )?${dayOfMonth})(?:,? (?:of )?${year})?|${month},? (?:of )?${year}|\\d{4}-\\d\\d-\\d\\d|\\d{1,2}[/.]\\d{1,2}[/.](?:\\d{4}|\\d\\d)(?!\\d)|\\d{1,2}-\\d{1,2}-\\d{4}`
const date = `(?:${weekday},? (?:the )?)?(?:${calendar})`
const moment = `(?:${date}|${year}|${weekday}|${month})`
const hour = `(?:${unit}|ten|eleven|twelve|1?\\d|2[0-3])`
/** An hour that begins a sentence. */
const firstHour = '(?:One|Two|Three|Four|Five|Six|Seven|Eight|Nine|Ten|Eleven|Twelve)'
const minutes = `(?:oh ${unit}|${teen}|(?:twenty|thirty|forty|fifty)(?:[ -]${unit})?)`
const meridiem = '(?:[ap]\\.m\\.?|[ap]m\\b|[ap] m\\b)'

function datePattern(type: EntityPattern['type'], source: string, score = 0.9): EntityPattern {
  return { type, pattern: new RegExp(source, 'g'), score }
}

const patterns: EntityPattern[] = [
  datePattern(
    'DATE_INTERVAL',
    `\\b(?:[Ff]rom|[Bb]etween) ${moment} (?:to|until|till|through|and) ${moment}`,
  ),
  datePattern('DATE_INTERVAL', `\\b${weekday} (?:to|through|until) ${weekday}\\b`),
  datePattern('DATE_INTERVAL', `\\b${year}(?: ?[-–] ?| to | through )${year}`),
  datePattern(
    'DATE_INTERVAL',
    `\\b(?:the )?(?:early |late )?(?:(?:19|20)\\d0s|(?:nineteen|twenty) (?:twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties))\\b`,
  ),
  datePattern('DATE', `(?<![\\d/.-])\\b(?:${date})`),
  datePattern(
    'DATE',
    `\\b(?:next|last|this|coming|past) (?:${weekday}|weekend|week|month|year|spring|summer|autumn|fall|winter)\\b`,
  ),
  datePattern(
    'DATE',
    '\\b(?:[Yy]esterday|[Tt]omorrow|the day (?:after tomorrow|before yesterday))\\b',
    0.6,
  ),
  datePattern('DAY', `\\b${weekday}(?=s?\\b)`),
  datePattern('MONTH', `\\b(?!May\\b|March\\b)${month}(?![\\w])`),
  datePattern(
    'MONTH',
    '\\b(?:in|since|until|by|of|before|after|during|last|next|this|mid|late|early) (?<e>May|March)\\b(?! [a-z]{2,} on\\b)',
  ),
  // May and March within a date, for requests that name only the types month or year.
  datePattern('MONTH', `\\b(?:May|March)(?=,? (?:the )?${dayOfMonth})`),
  datePattern('MONTH', `\\b${dayOfMonth}(?: day)?(?: of)? (?<e>May|March)\\b`),
  datePattern('YEAR', `\\b${month}(?:,? (?:the )?${dayOfMonth})?,? (?:of )?(?<e>${year})`),
  datePattern(
    'YEAR',
    `\\b(?:[Ii]n|[Ss]ince|[Uu]ntil|[Bb]y|year|of|before|after|during|back in|around) (?<e>${year})`,
  ),
  datePattern('TIME', `\\b${hour}(?:[:.][0-5]\\d| ${minutes})? ?${meridiem}`),
  datePattern('TIME', `(?<![\\d:])\\b(?:[01]?\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d)?(?![\\d:])`),
  datePattern(
    'TIME',
    `(?<!\\b(?:score|won|lost|by|beat|game|leading|ahead|up|down|vote|odds)[\\w ]{0,12} )\\b(?:[Hh]alf past|(?:[Aa] )?[Qq]uarter (?:past|to|after|of)|(?:${amount}) minutes (?:past|to)|(?:five|ten|twenty|twenty[ -]five) (?:past|to)) (?:${unit}|ten|eleven|twelve|noon|midnight)\\b(?! (?:people|of|dollars|percent))`,
    0.85,
  ),
  datePattern('TIME', `\\b${hour} o['’]clock\\b`),
  datePattern(
    'TIME',
    `\\bat (?<e>${hour} ${minutes})(?=[.,?!]|$| (?:today|tomorrow|tonight|in the|on)\\b)`,
    0.8,
  ),
  datePattern(
    'TIME',
    `\\bat (?<e>${hour})(?= in the (?:morning|afternoon|evening)| tonight| tomorrow)`,
    0.8,
  ),
  datePattern(
    'TIME',
    `\\b(?:com(?:e|es|ing)|[Mm]eet (?:me|us|you|him|her|them)|[Cc]lose|[Oo]pen|arriv\\w+|starts?|starting|meets?|meeting|leaves?|leaving|opens?|closes?|be there|[Ss]ee you|call(?: you)?(?: back)?|dinner|lunch|breakfast|appointment|flight|train|up|home|here|today|tonight|tomorrow|${weekday}|morning|afternoon|evening) at (?:around |about )?(?<e>${hour}(?: ${minutes})?)(?=[.,?!]|$| (?:and|or|sharp|on|for|with)\\b)`,
    0.8,
  ),
  datePattern(
    'TIME',
    `\\b[Ww](?:hat|hich) time [^?]{0,40}\\? (?:(?:[Uu]m|[Uu]h|[Ww]ell|[Mm]aybe|[Aa]bout|[Aa]round|[Aa]t|[Ii]t's|[Hh]ow about),? ){0,3}(?<e>(?:${hour}|${firstHour})(?: ${minutes})?)(?![\\w%-]|,?\\d)`,
    0.8,
  ),
  datePattern('TIME', '\\b(?:noon|midnight)\\b'),
]

const birthWords = `(?:born(?: on(?: the)?| in)?|date of birth|birth ?date|birthday|d\\.? ?o\\.? ?b\\.?)(?!\\p{L})`
const birth = new RegExp(`\\b${birthWords}${leadPattern}`, 'iu')
/** A question for a name and a birthday; the response begins with the name. */
const birthAsked = /\b(?:date of birth|birth ?date|birthday)\b[^?]{0,20}\?[^?\d]{0,60}$/i

function isFirstAsked(text: string, from: number): boolean {
  const textBefore = precedingText(text, from, 110)
  return (
    birthAsked.test(textBefore) &&
    !new RegExp(month).test(textBefore.slice(textBefore.lastIndexOf('?')))
  )
}

/** The words between a question for a birthday and the digits of the response. */
const birthLead = `(?:[\\s,.:?]|\\b(?:is|was|it's|that's|that would be|it would be|sure|yes|yeah|please|okay|uh|um)\\b)*`
const birthDigits = new RegExp(
  `\\b(?:date of birth|birth ?date|d ?o ?b|birthday|born on)${birthLead}(?<e>\\d{1,2}[/.-]\\d{1,2}(?!\\d)|(?:oh|zero|${ten}|${teen}|${unit}|\\d{1,4})(?:[\\s,/.-]+(?:oh|zero|hundred|${ten}|${teen}|${unit}|slash|dash|\\d{1,4})\\b){2,11})`,
  'gi',
)

/** Month, day and year after "born": five twelve seventy nine, but not five times. */
const birthNumbers = new RegExp(
  `\\bborn,? (?<e>(?:(?:oh |zero )?${unit}|ten|eleven|twelve) (?:(?:twenty|thirty)[ -]${unit}|(?:oh )?${unit}|${teen}|twenty|thirty) (?:(?:nineteen|twenty) )?(?:${ten}(?:[ -]${unit})?|(?:oh|o) ${unit}))(?=[.,?!]|$| (?:in|at|to|and)\\b)`,
  'gi',
)

const shortYear = `(?:${ten}(?:[ -]${unit})?|${teen}|(?:oh|nought) ${unit}|['’]?\\d\\d(?!\\d))`
/** A year that answers a question, with pauses: "Nineteen. Sixty. Four." */
const pausedYear = `(?:(?:nineteen|twenty|19|20)[\\s.,-]+(?:${ten}(?:[\\s.,-]+${unit})?|${teen}|(?:oh|o)[\\s.,-]+${unit}|\\d\\d)|${ten}\\. ${unit})(?=[.,?!]|$)`
/**
 * A year without a date: "born in ninety one", "What year were you born? Nineteen ninety one,
 * March."
 */
const birthYear = new RegExp(
  `\\b(?:born(?= in\\b)|(?:year|when) (?:were|was) [\\w ]{2,25} born|(?:birth year|year of birth)(?:,? (?:please|again))?)(?: in\\b)?${birthLead}(?<e>(?:${pausedYear}|${year}|${shortYear}\\b)(?:,? ${month})?)(?! (?:years?|months?|weeks?|days?|minutes?|hours?)\\b)`,
  'gi',
)
/** The year of a birthday, asked after its day: "June the fifteenth. And the year? Ninety one." */
const yearAsked = new RegExp(
  `\\b(?:born|birth(?: ?da(?:y|te))?|d\\.?o\\.?b)\\b[^#]{0,100}?\\b(?:what|which|the) year(?: (?:was|is) (?:that|it))?(?:,? please)?\\?${birthLead}(?<e>${pausedYear}|${year}|${shortYear}\\b)(?! (?:years?|months?|weeks?|days?|minutes?|hours?)\\b)`,
  'gi',
)
const endsInYear = new RegExp(`(?:${year}|\\d{4})$`, 'i')
/** A year after a birthday: "May third, um, ninety one", "May third. Nineteen ninety one." */
const yearAfter = new RegExp(
  `^(?:,? (?:u[hm],? )?(?:of )?${shortYear}\\b(?! (?:years?|months?|weeks?|days?|minutes?|hours?|people|percent|dollars)\\b)|\\. (?:u[hm],? )?(?:${year}|${shortYear})(?=[.,?!]|$))`,
  'i',
)
/**
 * "The fifth of the sixth, eighty four": only as a birthday, because elsewhere it may mean
 * something else.
 */
const shortBirth: EntityPattern = {
  type: 'DOB',
  pattern: new RegExp(
    `\\b(?:[Tt]he )?(?:${ordinal}|[0-3]?\\d(?:st|nd|rd|th)) (?:of )?(?:the )?(?:${ordinal}|${month}|[01]?\\d(?:st|nd|rd|th))(?:,? (?:of )?(?:${year}|${shortYear}))?\\b`,
    'g',
  ),
  score: 0.97,
}

/** A birthday that is dictated with pauses: "May. Third.", "Twelve. Of May." */
const pausedBirth: EntityPattern = {
  type: 'DOB',
  pattern: new RegExp(
    `\\b(?:${month}\\. (?:the )?${dayOfMonth}|(?:the )?${dayOfMonth}\\. (?:of )?${month})(?=[.,?!]|$)`,
    'gi',
  ),
  score: 0.97,
}

const cardMonth = `(?:0?[1-9]|1[0-2]|(?:oh|zero) ${unit}|ten|eleven|twelve|${month})`
const cardYear = `(?:20)?[2-4]\\d\\b|(?:twenty )?(?:twenty|thirty|forty)(?:[ -]${unit})?\\b|two (?:zero|oh)? ?(?:two|three)? ?${unit}\\b`
const cardExpiry: EntityPattern = {
  type: 'CREDIT_CARD_EXPIRATION',
  pattern: new RegExp(
    `\\b(?:exp(?:\\b|ir\\w+)|good (?:through|thru|until)|valid (?:through|thru|until|from)|(?:start|issue) date)(?:,? (?:date|is|on|in|of|the|it's|at|and|month|please))*[\\s,.:?]+(?:(?:it's|it is|sure|yes|yeah|uh|um|that's)[\\s,.]+){0,3}(?<e>${cardMonth}(?:\\s?[/-]\\s?|,? slash |,? of |,? |\\. (?=(?:${cardYear})(?:[.,?!]|$)))(?:${cardYear})|(?:0[1-9]|1[0-2])[2-4]\\d\\b)`,
    'gi',
  ),
  score: 0.97,
}

const endsInDay = new RegExp(`${month},? (?:the )?${dayOfMonth}$`)
const dayRange = '(?: ?[-–] ?| (?:to|through|until|till|and|or) )(?:the )?'
const firstDay = new RegExp(`(?<![\\w.,:-]|\\d )(?:the )?${dayOfMonth}${dayRange}$`)
const lastDay = new RegExp(
  `^${dayRange}(?:\\d{1,2}(?:st|nd|rd|th)\\b|${ordinal}\\b|[0-3]?\\d(?![\\w:]|[.,]\\d)(?=[.,;?!]|$))(?:,? (?:of )?${year})?(?! (?:of )?${month})`,
)

/** Extends a date to a range of days: "the 5th to 7th of May", "May 5th to 7th". */
function withDays(text: string, entity: Entity): Entity {
  const date = text.slice(entity.from, entity.to)
  const [first = ''] =
    (/^(?:the )?\d|^(?:the )?[a-z]/.test(date) &&
      firstDay.exec(precedingText(text, entity.from))) ||
    []
  const [last = ''] =
    (endsInDay.test(date) && lastDay.exec(text.slice(entity.to, entity.to + 40))) || []
  return { ...entity, from: entity.from - first.length, to: entity.to + last.length }
}

/**
 * Finds calendar dates, days, months, years, spans of them, times of day, birthdays and expiry
 * dates of cards.
 */
export function findDates(original: string): Entity[] {
  const text = withUsualCase(original)
  const dateEntities = matchPatterns(text, patterns).map((entity) => {
    return entity.type === 'DATE' ? withDays(text, entity) : withRange(text, entity)
  })
  const dates = dateEntities.filter(({ type }) => ['DATE', 'YEAR', 'MONTH'].includes(type))
  const births = [...dates, ...matchPatterns(text, [shortBirth, pausedBirth])]
    .filter(({ from }) => {
      const textBefore = withoutCorrectedDay(precedingText(text, from, 80)).slice(-40)
      return birth.test(textBefore) || isFirstAsked(text, from)
    })
    .map((entity) => withYear(text, { ...entity, type: 'DOB', score: 0.97 }))
  const digits = [birthDigits, birthNumbers, birthYear, yearAsked].flatMap((pattern) =>
    matchPatterns(text, [{ type: 'DOB', pattern, score: 0.96 }]),
  )
  return [...dateEntities, ...births, ...digits, ...matchPatterns(text, [cardExpiry])]
}

const opening = new RegExp(
  `(?<=^|[.?!] )(?:${[ordinal, ten, teen, unit].join('|')})(?!\\p{L})`,
  'giu',
)
const named =
  /\b(?:(?:jan|febr)uary|march|april|may|june|july|august|(?:septem|octo|novem|decem)ber|(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?=s?\b)/g

/**
 * Converts a text to the form that the patterns of dates expect: numbers that begin a sentence in
 * lower case and, if a recognizer writes only lower case, months and days with a capital.
 */
function withUsualCase(text: string): string {
  const lowered = text.replace(opening, (word) => word.toLowerCase())
  if (!isUncased(text)) return lowered
  return lowered.replace(named, (word) => word[0]!.toUpperCase() + word.slice(1))
}

function withYear(text: string, entity: Entity): Entity {
  if (endsInYear.test(text.slice(entity.from, entity.to))) return entity
  const [behind = ''] = yearAfter.exec(text.slice(entity.to, entity.to + 60)) ?? []
  return { ...entity, to: entity.to + behind.length }
}
