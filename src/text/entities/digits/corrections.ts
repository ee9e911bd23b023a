import type { Entity } from '../entity-types.ts'
import { precedingText } from '../matching/matching.ts'
import type { DigitRun } from './digit-runs.ts'
import { ordinal } from './ordinals.ts'

const filler = "(?:um|uh|er|so|it's|that's|it is|that is|it was|I'm|my)"
const regret =
  '(?:no|sorry|wait|oops|actually|rather|correction|apologies|my mistake|hang on|hold on|I mean|scratch that|let me (?:start|try|say that) (?:again|over))'
/** "No, sorry, it's …": what people say between a slip of the tongue and what they meant. */
const correction = `(?:${filler}[\\s,.…-]+){0,2}(?:${regret}[\\s,.!…-]+(?:${filler}[\\s,.…-]+){0,2}){1,4}`
const isCorrection = new RegExp(`^[\\s,.…-]+${correction}$`, 'i')
/** The response to a number that was read back: "Four six two? No, A, four six one." */
const isDenial = new RegExp(`^[\\s,.…-]*\\?\\s+${correction}(?:[A-Z][\\s,.-]+){0,3}$`, 'i')
const endsThere = /^(?: at the (?:end|start|beginning))?\s*(?:[.,!?]|$)/
const correctionBefore = new RegExp(`[\\s,.…-]+${correction}$`, 'i')
/** The name of a street after its number: "Forty two Elm, no, forty three Elm Street". */
const streetName = /^(?: \p{Lu}[\p{L}'’]{0,40}){1,3}/u

const numberWord =
  '(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|double|triple|\\d{1,20})'
const corrected = new RegExp(
  `\\b${numberWord}(?:[\\s,.-]+${numberWord}){0,20}[\\s,.…-]+${correction}$`,
  'i',
)

/** Removes a number that the number after the text corrects, so that its cue is still close. */
export function withoutCorrected(textBefore: string): string {
  return textBefore.replace(corrected, '')
}

/** The longest words of a correction, in characters. */
const MAX_GAP_CHARS = 80

/**
 * Finds numbers that the speaker corrects, and corrected ones without a type: each has the type of
 * the other ("forty one, no, sorry, forty two"). A date that corrects a birthday is one, too.
 */
export function findCorrected(
  text: string,
  { runs, found }: { runs: readonly DigitRun[]; found: readonly Entity[] },
): Entity[] {
  const numbers = runs.slice(1).flatMap((second, at) => {
    const first = runs[at]!
    const gap = text.slice(first.to, second.from)
    if (gap.length > MAX_GAP_CHARS) return []
    const [street = ''] = streetName.exec(gap) ?? []
    const isDenied = isDenial.test(gap) && endsThere.test(text.slice(second.to, second.to + 20))
    if (!isDenied && !isCorrection.test(gap.slice(street.length))) return []
    const before = found.find(({ from, to }) => from < first.to && to > first.from)
    const after = found.find(({ from, to }) => from < second.to && to > second.from)
    if (before && !after && !street) return [{ ...before, from: second.from, to: second.to }]
    if (before || !after || (street && !after.type.startsWith('LOCATION'))) return []
    return [{ ...after, from: first.from, to: first.to + street.length }]
  })
  return [
    ...numbers,
    ...correctedBirthdays(text, found),
    ...correctedDays(text, found),
    ...correctedMails(text, found),
  ]
}

function correctedBirthdays(text: string, found: readonly Entity[]): Entity[] {
  const births = new Map(
    found.filter(({ type }) => type === 'DOB').map((birth) => [birth.to, birth]),
  )
  if (births.size === 0) return []
  return found.flatMap((date) => {
    if (date.type !== 'DATE') return []
    const gap = correctionBefore.exec(precedingText(text, date.from, MAX_GAP_CHARS))?.[0] ?? ''
    const birth = gap === '' ? undefined : births.get(date.from - gap.length)
    return birth ? [{ ...date, type: 'DOB' as const, score: birth.score }] : []
  })
}

const day = `(?:the )?(?:${ordinal}|[0-3]?\\d(?:st|nd|rd|th))(?: of(?: the)?)?`
const dayBefore = new RegExp(`(?<![\\p{L}\\d])(?<day>${day})[\\s,.…-]+${correction}$`, 'iu')
const dayAfter = new RegExp(`^[\\s,.?…-]+${correction}(?<day>${day})(?=[.,!?]|$)`, 'iu')

/** Removes a day that the date after the text corrects, so that its cue is still close. */
export function withoutCorrectedDay(textBefore: string): string {
  return textBefore.replace(dayBefore, '')
}

/** Finds days without a month beside a date: "the fourth, no, sorry, the fifth of March". */
function correctedDays(text: string, found: readonly Entity[]): Entity[] {
  return found.flatMap((date) => {
    if (date.type !== 'DATE' && date.type !== 'DOB') return []
    const before = dayBefore.exec(precedingText(text, date.from, MAX_GAP_CHARS))
    const after = dayAfter.exec(text.slice(date.to, date.to + MAX_GAP_CHARS))
    const days: Entity[] = []
    if (before) {
      const from = date.from - before[0].length
      days.push({ ...date, from, to: from + before.groups!.day!.length })
    }
    if (after) {
      const to = date.to + after[0].length
      days.push({ ...date, from: to - after.groups!.day!.length, to })
    }
    return days
  })
}

const joint = '(?:dot|underscore|dash|hyphen)'
/** The beginning of an address, with "at" or a joint: "dave at hot", "sarah dot wilks". */
const mailBefore = new RegExp(
  `(?<![\\p{L}\\d])(?<mail>[\\p{L}\\d]{1,40}(?: ${joint} [\\p{L}\\d]{1,40}){0,4}(?: (?:at|add)(?: [\\p{L}\\d-]{1,40}(?: dot \\p{L}{1,12}){0,2})?|(?<= ${joint} [\\p{L}\\d]{1,40})))[\\s,.…-]+${correction}$`,
  'iu',
)

/** Finds addresses that the speaker begins again: "dave at hot, sorry, dave at gmail dot com". */
function correctedMails(text: string, found: readonly Entity[]): Entity[] {
  return found.flatMap((mail) => {
    if (mail.type !== 'EMAIL_ADDRESS') return []
    const before = mailBefore.exec(precedingText(text, mail.from, 2 * MAX_GAP_CHARS))
    if (!before) return []
    const from = mail.from - before[0].length
    return [{ ...mail, from, to: from + before.groups!.mail!.length }]
  })
}
