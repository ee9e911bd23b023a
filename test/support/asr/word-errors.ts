/** How a hypothesis differs from a reference, in words. WER = errors / reference words. */
export type WordErrors = { errors: number; referenceWords: number }

const NUMBERS = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
]

/**
 * Normalizes words for comparison: lower case, without punctuation and fillers, numbers to ten as
 * digits, digit strings digit by digit. Fillers and numbers are English only.
 */
export function comparableWords(text: string): string[] {
  const spelled = text
    .toLowerCase()
    .replaceAll('’', "'")
    .replaceAll(/\boh\b/g, '0')
  const words = spelled.match(/[\p{L}\p{M}']+|\p{N}/gu) ?? []
  return words.flatMap((word) => {
    const bare = word.replaceAll("'", '')
    if (bare === '' || /^(u[hm]+|hm+|er)$/.test(bare)) return []
    const number = NUMBERS.indexOf(bare)
    return number === 10 ? ['1', '0'] : number >= 0 ? [String(number)] : [bare]
  })
}

/** Counts word errors: the fewest substitutions, deletions and insertions. */
export function wordErrors(reference: string, hypothesis: string): WordErrors {
  const wanted = comparableWords(reference)
  const pairs = alignWords(wanted, comparableWords(hypothesis))
  const errors = pairs.filter(([a, b]) => a === undefined || b === undefined || !a.same).length
  return { errors, referenceWords: wanted.length }
}

type Place = { index: number; same: boolean }

/**
 * Aligns the words of two lists so that the fewest differ: `[reference, hypothesis]`, either
 * missing where a word was deleted or inserted.
 */
export function alignWords(
  reference: readonly string[],
  hypothesis: readonly string[],
): [Place | undefined, Place | undefined][] {
  const width = hypothesis.length + 1
  const cost = new Uint32Array((reference.length + 1) * width)
  for (let j = 0; j < width; j++) cost[j] = j
  for (let i = 1; i <= reference.length; i++) {
    cost[i * width] = i
    for (let j = 1; j < width; j++) {
      const change = reference[i - 1] === hypothesis[j - 1] ? 0 : 1
      const diagonal = cost[(i - 1) * width + j - 1]! + change
      const deleted = cost[(i - 1) * width + j]! + 1
      const inserted = cost[i * width + j - 1]! + 1
      cost[i * width + j] = Math.min(diagonal, deleted, inserted)
    }
  }
  const pairs: [Place | undefined, Place | undefined][] = []
  let i = reference.length
  let j = hypothesis.length
  while (i > 0 || j > 0) {
    const here = cost[i * width + j]!
    const same = i > 0 && j > 0 && reference[i - 1] === hypothesis[j - 1]
    if (i > 0 && j > 0 && here === cost[(i - 1) * width + j - 1]! + (same ? 0 : 1)) {
      pairs.push([
        { index: --i, same },
        { index: --j, same },
      ])
    } else if (i > 0 && here === cost[(i - 1) * width + j]! + 1) {
      pairs.push([{ index: --i, same: false }, undefined])
    } else {
      pairs.push([undefined, { index: --j, same: false }])
    }
  }
  return pairs.reverse()
}
