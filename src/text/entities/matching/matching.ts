import type { Entity, EntityType } from '../entity-types.ts'

/** A pattern that finds entities. The entity is the group `e` or, without one, the whole match. */
export type EntityPattern = { type: EntityType; pattern: RegExp; score: number }

/** Returns every match of the patterns in a text. Patterns need the flag g. */
export function matchPatterns(text: string, patterns: readonly EntityPattern[]): Entity[] {
  for (const { pattern } of patterns) compile(pattern)
  return patterns.flatMap(({ type, pattern, score }) =>
    Array.from(text.matchAll(pattern), (match) => {
      const named = match.groups?.e
      const inner = named ?? match[0]
      // The group `e` always ends where the match ends: patterns use lookahead for the text after
      // it.
      const from = match.index + match[0].length - inner.length
      return { type, from, to: from + inner.length, score }
    }),
  )
}

const compiled = new WeakSet<RegExp>()
const longText = ' '.repeat(1000)

/**
 * Makes V8 compile a pattern to machine code, which it does at once only for a text of this length.
 * Otherwise V8 compiles it to bytecode first, which takes half a second for the patterns of dates.
 */
function compile(pattern: RegExp): void {
  if (compiled.has(pattern)) return
  compiled.add(pattern)
  longText.search(pattern)
}

/**
 * The source of a pattern for the text between a cue and its entity: verbs, fillers, and after a
 * question the beginning of the response. Use it only at the end of a short text.
 */
export const leadPattern =
  "(?:[\\s,.:;?!-]|['’]s\\b|\\b(?:please|yes|yeah|yep|sure|okay|ok|uh|um|well|so|of course|right|it|it's|its|that's|that|is|was|would be|should be|will be|are|spelled|spelt|pronounced|under|the|my|on|in|for|you|me|again|file|card|account|booking|reservation|number)\\b)*$"

/** The number of characters before an offset in which a rule looks for a cue. */
export const CUE_REACH = 60

/** Returns the text before an offset in which a rule looks for a cue. */
export function precedingText(text: string, offset: number, reach = CUE_REACH): string {
  return text.slice(Math.max(0, offset - reach), offset)
}
