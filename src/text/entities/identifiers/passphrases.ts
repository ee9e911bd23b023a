import { isFunctionWord } from '../../vocabulary/common-words.ts'
import type { Entity } from '../entity-types.ts'

const cue = /\bpass ?(?:word|phrase|code)(?: is| was|:|,| would be|'s)+ /giu
const words = /^\p{L}+(?:[ -]\p{L}+){1,7}/u
/** Remarks about passwords, and words with which the sentence continues. */
const remarks =
  /^(?:wrong|incorrect|invalid|expired?|reset|required|protected|safe|secure|weak|strong|case|sensitive|changed|locked|working|please|about|again|today|yesterday|tomorrow|still|also|now|always|never|just|really|yes|no|yeah|okay|ok|um|uh|thanks|thank|sorry|sent|stored|saved|needed|shared|long|short|easy|hard|only|already|all|\w+ly)$/i

/**
 * Finds passwords of several words without a digit: "my password is correct horse battery staple".
 */
export function findPassphrases(text: string): Entity[] {
  return Array.from(text.matchAll(cue), ({ 0: announced, index }) => {
    const from = index + announced.length
    const row = words.exec(text.slice(from, from + 120))?.[0] ?? ''
    const phrase = upToFunctionWord(row)
    const parts = phrase.split(/[ -]/)
    if (parts.length < 2 || parts.some((word) => remarks.test(word))) return []
    // "The password is correct now" is a remark; with more words it is a password.
    if (/^correct$/i.test(parts[0]!) && parts.length < 3) return []
    return [{ type: 'PASSWORD' as const, from, to: from + phrase.length, score: 0.9 }]
  }).flat()
}

function upToFunctionWord(row: string): string {
  const parts = [...row.matchAll(/\p{L}+/gu)]
  const end = parts.find(([word]) => isFunctionWord(word.toLowerCase()))
  return end ? row.slice(0, end.index).trimEnd() : row
}
