/** Maximum words of a name. */
const MAX_NAME_WORDS = 4
/** Maximum names: more would take time, and would be recognized where nobody said them. */
const MAX_NAMES = 100
const MAX_NAME_CHARS = 100

/**
 * Returns the names in a prompt. OpenAI's models treat a prompt as text that precedes the
 * recording, but people use it for words that are hard to spell. Short items, separated by commas,
 * semicolons or line breaks, are names. In sentences, words with a capital or a digit are names,
 * except for the first word.
 */
export function vocabularyFromPrompt(prompt: string): string[] {
  const lines = prompt.split(/\n|(?<=[.!?])\s/).map((line) => itemsOf(line))
  const isList =
    !/[.!?]\s*$/.test(prompt) &&
    lines.flat().every((item) => item.split(/\s+/).length <= MAX_NAME_WORDS)
  const entries = isList ? lines.flat() : lines.flatMap(namesInSentence)
  const usableEntries = entries.filter(
    (item) => item.length <= MAX_NAME_CHARS && /[\p{L}\d]/u.test(item),
  )
  return [...new Set(usableEntries)].slice(0, MAX_NAMES)
}

/** Splits a line into items. A comma between digits is not a separator. */
function itemsOf(line: string): string[] {
  return line
    .split(/;|,(?!\d)/)
    .map((item) => item.trim().replace(/[.!?:]+$/, ''))
    .filter((item) => item !== '')
}

function namesInSentence(items: readonly string[]): string[] {
  return items.flatMap((item, itemIndex) => {
    const runs: string[][] = [[]]
    for (const [i, word] of item.split(/\s+/).entries()) {
      const isFirst = itemIndex === 0 && i === 0
      const isName = isFirst ? /.[\p{Lu}\d]/u.test(word) : /[\p{Lu}\d]/u.test(word)
      if (isName) runs.at(-1)!.push(word.replace(/^["'“(]+|["'”):]+$/gu, ''))
      else runs.push([])
    }
    return runs.filter((run) => run.length > 0).map((run) => run.join(' '))
  })
}
