/**
 * The kinds of the sounds before and after a boundary, as rows of the network; a sound that is not
 * known is missing.
 */
export type BoundarySounds = readonly number[]

const kinds = ['vowel', 'stop', 'fricative', 'sonorant'] as const
type Kind = (typeof kinds)[number]

/** Letters that begin words, by the kind of their sound; the first that fits counts. */
const FIRST_SOUNDS: readonly [RegExp, Kind][] = [
  [/^(wh|kn|wr)/, 'sonorant'],
  [/^(th|sh|ph|ch|c[eiy])/, 'fricative'],
  [/^[aeiou8]/, 'vowel'],
  [/^[ptkbdgcqj2]/, 'stop'],
  [/^[fsvzhx034567]/, 'fricative'],
  [/^[lmnrwy19]/, 'sonorant'],
]

/** Letters that end words; an e that is not the only vowel is silent. */
const LAST_SOUNDS: readonly [RegExp, Kind][] = [
  [/(th|sh|ph|gh|ch)$/, 'fricative'],
  [/.[csvfz]e$/, 'fricative'],
  [/.[ptkbdg]e$/, 'stop'],
  [/.[lmnrjqx]e$/, 'sonorant'],
  [/[aeiouyw]$/, 'vowel'],
  [/[ptkbdgcq]$/, 'stop'],
  [/[fsvzhx]$/, 'fricative'],
  [/[lmnrj]$/, 'sonorant'],
]

/** Returns the sounds at the boundary of two words in English spelling; `before` may be missing. */
export function boundarySounds(before: string | undefined, word: string): BoundarySounds {
  const last = before === undefined ? undefined : kindOf(before, LAST_SOUNDS)
  const first = kindOf(word, FIRST_SOUNDS)
  const sounds: number[] = []
  if (last) sounds.push(kinds.indexOf(last))
  if (first) sounds.push(kinds.length + kinds.indexOf(first))
  return sounds
}

function kindOf(word: string, rules: typeof FIRST_SOUNDS): Kind | undefined {
  const plain = word
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
  return rules.find(([pattern]) => pattern.test(plain))?.[1]
}
