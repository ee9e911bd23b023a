import { readFileSync } from 'node:fs'

const listsByName = new Map<string, readonly string[]>()

/**
 * Returns the entries of `src/text/words/lists/NAME.txt`, which is read once. The first line of a
 * list states its origin and license.
 */
export function wordList(name: string): readonly string[] {
  let entries = listsByName.get(name)
  if (!entries) {
    const text = readFileSync(new URL(`./lists/${name}.txt`, import.meta.url), 'utf8')
    entries = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    listsByName.set(name, entries)
  }
  return entries
}

let lexicon: ReadonlyMap<string, readonly string[]> | undefined

/**
 * Returns the tags that the lexicon of compromise gives a lower-case word or phrase; none if the
 * lexicon lacks it.
 */
export function tagsOf(phrase: string): readonly string[] {
  lexicon ??= readLexicon()
  return lexicon.get(phrase) ?? []
}

/** Returns the lower-case words and phrases to which the lexicon of compromise gives a tag. */
export function taggedWith(tag: string): string[] {
  lexicon ??= readLexicon()
  return [...lexicon].filter(([, tags]) => tags.includes(tag)).map(([phrase]) => phrase)
}

/** Reads lines that hold tags, separated by spaces, and then their phrases, separated by tabs. */
function readLexicon(): Map<string, readonly string[]> {
  const entries = new Map<string, readonly string[]>()
  for (const line of wordList('compromise-lexicon')) {
    const [tags = '', ...phrases] = line.split('\t')
    const list = tags.split(' ')
    for (const phrase of phrases) entries.set(phrase, list)
  }
  return entries
}
