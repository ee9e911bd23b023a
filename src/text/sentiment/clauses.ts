/** A word of a clause in lower case; `afterComma` where a comma or a bracket stands before it. */
export type ClauseWord = { text: string; afterComma: boolean }

/** Words after which the other side of a matter is told. */
const TURNS = new Set(['but', 'however', 'although', 'though', 'whereas', 'except', 'nevertheless'])

/**
 * A sentence cut where it turns ("but", "however", a semicolon, a dash): each clause may feel otherwise. Clauses
 * without words are left out.
 */
export function cutClauses(sentence: string): ClauseWord[][] {
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

/** "Yet" turns a sentence after a comma only: "not yet" does not. */
function turnsBefore(word: string, marks: string): boolean {
  return TURNS.has(word) || (word === 'yet' && marks.includes(',')) || /[;.!?—–…]/.test(marks)
}
