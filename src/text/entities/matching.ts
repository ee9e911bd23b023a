import type { Entity, EntityType } from './entity-types.ts'

/** How a pattern finds entities: the group `e`, or all of the match, is the entity. */
export type Pattern = { type: EntityType; pattern: RegExp; score: number }

/** Every match of the patterns in a text. Patterns need the flag g. */
export function matchPatterns(text: string, patterns: readonly Pattern[]): Entity[] {
  return patterns.flatMap(({ type, pattern, score }) =>
    Array.from(text.matchAll(pattern), (match) => {
      const named = match.groups?.e
      const inner = named ?? match[0]
      // The entity is the end of its pattern whenever it is only a part: what follows is looked ahead at.
      const from = match.index + match[0].length - inner.length
      return { type, from, to: from + inner.length, score }
    }),
  )
}

/**
 * The source of a pattern for what stands between a cue and what it announces: verbs and fillers, and after a
 * question the beginning of its answer. Tried at the end of a short piece of text only.
 */
export const lead =
  "(?:[\\s,.:;?!-]|\\b(?:please|yes|yeah|yep|sure|okay|ok|uh|um|well|so|of course|right|it|it's|its|that's|that|is|was|would be|should be|will be|are|under|the|my|on|in|for|you|me|again|file|card|account|booking|reservation|number)\\b)*$"

/** The characters before an offset that a rule looks back at for a cue. */
export const CUE_REACH = 60

/** The text before an offset, as far as a cue reaches. */
export function before(text: string, offset: number, reach = CUE_REACH): string {
  return text.slice(Math.max(0, offset - reach), offset)
}
