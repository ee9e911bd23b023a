import type { DigitRun } from './digit-runs.ts'

const units =
  /^\s?(?:%|percent|per cent|dollars?|bucks|euros?|pounds?|cents?|years?|months?|weeks?|days?|hours?|minutes?|seconds?|people|miles|kilomet\w+|met(?:er|re)s|feet|degrees|million|thousand|billion|trillion|square|tons?)\b/i

/** Whether digits measure something: money, a unit behind them, or a decimal point in them. */
export function isMeasured(text: string, { from, to, spoken }: DigitRun): boolean {
  if (/[$€£]\s?$/.test(text.slice(Math.max(0, from - 2), from))) return true
  if (units.test(text.slice(to, to + 20))) return true
  return !spoken && /^(?:\d+|\d{1,3}(?:,\d{3})+)\.\d+$/.test(text.slice(from, to))
}

/** Whether digits are written as an amount, "12,345,678". Recognizers print what is read aloud so, too. */
export function isGrouped(text: string, { from, to }: DigitRun): boolean {
  return /^\d{1,3}(?:,\d{3})+$/.test(text.slice(from, to))
}

/** Whether a number is told in millions, as no number of somebody is. */
export function isRound(digits: string): boolean {
  return digits.endsWith('000000')
}
