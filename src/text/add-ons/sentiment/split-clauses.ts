/** A word of a clause in lower case. `afterComma`: a comma or a bracket precedes it. */
export type ClauseWord = { text: string; afterComma: boolean }

/** Words that introduce a contrast. */
const CONTRASTS = new Set([
  'but',
  'however',
  'although',
  'though',
  'whereas',
  'except',
  'nevertheless',
])

/**
 * Splits a sentence at contrasts ("but", "however", a semicolon, a dash), because the sentiment may
 * differ between clauses. Clauses without words are dropped.
 */
export function splitClauses(sentence: string): ClauseWord[][] {
  const clauses: ClauseWord[][] = []
  let clause: ClauseWord[] = []
  let marks = ''
  let last = 0
  for (const { 0: word, index } of sentence.matchAll(/[\p{L}\p{N}][\p{L}\p{M}\p{N}'’]*/gu)) {
    marks = sentence.slice(last, index)
    last = index + word.length
    const text = word
      .toLowerCase()
      .replaceAll('’', "'")
      .replace(/(?<!')'+$/, '')
    if (contrastsBefore(text, marks)) {
      clauses.push(clause)
      clause = []
    }
    clause.push({ text, afterComma: /[,(:"“”]/.test(marks) })
  }
  return [...clauses, clause].filter((words) => words.length > 0)
}

/**
 * Returns whether a contrast begins with a word. "Yet" begins one only after a comma: "not yet"
 * does not.
 */
function contrastsBefore(word: string, marks: string): boolean {
  return CONTRASTS.has(word) || (word === 'yet' && marks.includes(',')) || /[;.!?—–…]/.test(marks)
}
