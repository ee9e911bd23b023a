/** A word of a clause in lower case; `afterComma` where a comma or a bracket stands before it. */
export type ClauseWord = { text: string; afterComma: boolean }

/** Words that introduce the other side of a matter. */
const TURNS = new Set(['but', 'however', 'although', 'though', 'whereas', 'except', 'nevertheless'])

/**
 * Cuts a sentence where it turns ("but", "however", a semicolon, a dash), because the sentiment may
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
    if (turnsBefore(text, marks)) {
      clauses.push(clause)
      clause = []
    }
    clause.push({ text, afterComma: /[,(:"“”]/.test(marks) })
  }
  return [...clauses, clause].filter((words) => words.length > 0)
}

/**
 * Returns whether a sentence turns before a word. "Yet" turns it after a comma only: "not yet" does
 * not.
 */
function turnsBefore(word: string, marks: string): boolean {
  return TURNS.has(word) || (word === 'yet' && marks.includes(',')) || /[;.!?—–…]/.test(marks)
}
