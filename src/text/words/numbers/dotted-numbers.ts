import { parseSpokenNumber } from './number-words.ts'

/** The longest group between dots has as many digits as those of an IP address. */
const MAX_GROUP_DIGITS = 3

/**
 * Returns the number of several groups with which words begin, and how many words it has: "one
 * ninety-two dot one sixty-eight dot one dot one" is 192.168.1.1, and "three dot five" 3.5. Returns
 * undefined where another name follows: three dot five dot com.
 */
export function readDottedNumber(
  words: readonly string[],
): { text: string; words: number } | undefined {
  const groups: string[] = []
  let end = -1
  do {
    const group = readGroup(words.slice(end + 1))
    if (!group) return undefined
    groups.push(group.text)
    end += 1 + group.words
  } while (words[end] === 'dot')
  return groups.length > 1 ? { text: groups.join('.'), words: end } : undefined
}

/** Reads the numbers up to the next dot as one: one ninety-two, one nine two, 192. */
function readGroup(words: readonly string[]): { text: string; words: number } | undefined {
  let [text, at] = ['', 0]
  while (at < words.length) {
    const number = numberAt(words, at)
    if (!number || number.isOrdinal) break
    text += number.value
    at += number.words
  }
  return text !== '' && text.length <= MAX_GROUP_DIGITS ? { text, words: at } : undefined
}

function numberAt(words: readonly string[], at: number) {
  const word = words[at]!
  if (/^\d{1,3}$/.test(word)) return { value: word, words: 1, isOrdinal: false }
  return parseSpokenNumber(word === 'oh' ? ['zero'] : words.slice(at))
}
