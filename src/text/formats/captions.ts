import { separatorOf } from '../../transcript/separators.ts'
import type { Utterance, Word } from '../../transcript/transcript.ts'
import { countCharacters, wrapRows } from './rows.ts'

/** One subtitle: what stands on the screen from `start` to `end`. */
export type Caption = { start: number; end: number; rows: string[] }

/** What one caption may hold. */
export type CaptionLimits = {
  /** Seconds a caption may stay. */
  maxDuration: number
  maxCharactersPerRow: number
  maxRows: number
}

/** What broadcasters ask for: two rows of 42 characters, seven seconds. */
export const DEFAULT_LIMITS: CaptionLimits = {
  maxDuration: 7,
  maxCharactersPerRow: 42,
  maxRows: 2,
}

/**
 * Cuts utterances into captions: each ends with its utterance or earlier, keeps the limits, and never
 * breaks a word. A single word beyond a limit stands alone; only its time is shortened.
 */
export function cutCaptions(
  utterances: readonly Utterance[],
  limits: CaptionLimits = DEFAULT_LIMITS,
): Caption[] {
  return utterances.flatMap((utterance) => cutUtterance(utterance, limits))
}

/** The cheapest way to caption the words before an index: its price, and where its last caption opens. */
type Plan = { price: number; opens: number }

/**
 * The cheapest of all allowed cuts: fewest captions first, then breaks after punctuation or in a
 * pause, then captions of equal size (so that no word is left over alone).
 */
function cutUtterance({ words, language }: Utterance, limits: CaptionLimits): Caption[] {
  const separator = separatorOf(language)
  const plans: Plan[] = [{ price: 0, opens: 0 }]
  for (let end = 1; end <= words.length; end++) {
    let best: Plan = { price: Number.POSITIVE_INFINITY, opens: end - 1 }
    // Going back, a caption only grows: the first that breaks a limit ends the search.
    for (let opens = end - 1; opens >= 0; opens--) {
      const own = words.slice(opens, end)
      if (own.length > 1 && !fits(own, { separator, limits })) break
      const fill = countCharacters(own.map((word) => word.text).join(separator)) / capacity(limits)
      const price = plans[opens]!.price + 1 + breakPrice(words, end) + 0.5 * fill ** 2
      if (price < best.price) best = { price, opens }
    }
    plans.push(best)
  }
  return readPlan(plans).map(({ opens, end }) => {
    return toCaption(words.slice(opens, end), { separator, limits })
  })
}

function readPlan(plans: readonly Plan[]): { opens: number; end: number }[] {
  const cuts: { opens: number; end: number }[] = []
  for (let end = plans.length - 1; end > 0; end = plans[end]!.opens) {
    cuts.unshift({ opens: plans[end]!.opens, end })
  }
  return cuts
}

type Layout = { separator: string; limits: CaptionLimits }

function fits(words: readonly Word[], { separator, limits }: Layout): boolean {
  if (words.at(-1)!.end - words[0]!.start > limits.maxDuration) return false
  const width = limits.maxCharactersPerRow
  const rows = wrapRows(textsOf(words), { separator, width })
  return rows.length <= limits.maxRows && rows.every((row) => countCharacters(row) <= width)
}

function capacity(limits: CaptionLimits): number {
  return limits.maxCharactersPerRow * limits.maxRows
}

/** How badly a caption reads that ends before word `end`: 0 after a sentence, at most 0.8. */
function breakPrice(words: readonly Word[], end: number): number {
  const next = words[end]
  if (!next) return 0
  const last = words[end - 1]!
  if (/[.!?…。！？]["'”’)]?$/.test(last.text)) return 0
  const price = /[,;:–—，、；：]$/.test(last.text) ? 0.3 : 0.8
  return Math.max(0, price - Math.max(0, next.start - last.end))
}

function toCaption(words: readonly Word[], { separator, limits }: Layout): Caption {
  const texts = textsOf(words)
  const start = words[0]!.start
  const end = Math.min(words.at(-1)!.end, start + limits.maxDuration)
  const full = wrapRows(texts, { separator, width: limits.maxCharactersPerRow })
  // The narrowest rows of the same number: two rows of one length read better than a long and a short one.
  let width = 1
  while (wrapRows(texts, { separator, width }).length > full.length) width++
  return { start, end, rows: wrapRows(texts, { separator, width }) }
}

function textsOf(words: readonly Word[]): string[] {
  return words.map((word) => word.text)
}
