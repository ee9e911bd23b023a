import { readFileSync } from 'node:fs'

const read = new Map<string, readonly string[]>()

/**
 * Returns the entries of `src/text/words/lists/NAME.txt`, read once. Its first line states origin
 * and license.
 */
export function wordList(name: string): readonly string[] {
  let entries = read.get(name)
  if (!entries) {
    const text = readFileSync(new URL(`./lists/${name}.txt`, import.meta.url), 'utf8')
    entries = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    read.set(name, entries)
  }
  return entries
}

let lexicon: ReadonlyMap<string, readonly string[]> | undefined

/**
 * Returns the tags that the lexicon of compromise gives a word or phrase in lower case; none for an
 * unknown one.
 */
export function tagsOf(phrase: string): readonly string[] {
  lexicon ??= readLexicon()
  return lexicon.get(phrase) ?? []
}

/** Returns the words and phrases in lower case that the lexicon of compromise files under a tag. */
export function taggedWith(tag: string): string[] {
  lexicon ??= readLexicon()
  return [...lexicon].filter(([, tags]) => tags.includes(tag)).map(([phrase]) => phrase)
}

/** Each line holds tags, separated by spaces, then the phrases that have them, by tabs. */
function readLexicon(): Map<string, readonly string[]> {
  const entries = new Map<string, readonly string[]>()
  for (const line of wordList('compromise-lexicon')) {
    const [tags = '', ...phrases] = line.split('\t')
    const list = tags.split(' ')
    for (const phrase of phrases) entries.set(phrase, list)
  }
  return entries
}
