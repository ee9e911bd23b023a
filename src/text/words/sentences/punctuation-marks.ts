import { wordPartsOf } from '../word-parts.ts'
import { abbreviationOf } from './abbreviations.ts'

/** Marks at the end of a word, closing quotes or brackets after them, and spaces between them. */
const TAIL = /(?<=[\p{L}\p{M}\p{N}])[\s.,;:!?…，、。；：！？؟،।]+(?=["'”’»)\]]*$)/u

/**
 * Tidies the punctuation of a word: no space before marks, none doubled, no comma beside a full
 * stop. It only removes marks. A word without a letter or digit stays as it is, and French keeps
 * its spaces before marks.
 */
export function tidyPunctuation(text: string, language: string): string {
  const parts = text.split(/[ \t\r\n]+/).filter((part) => part !== '')
  const single = parts.join(' ')
  if (language === 'fr' || single === '') return single || text
  const { core } = wordPartsOf(single)
  const abbreviated = abbreviationOf(core, language) !== undefined
  return single.replace(TAIL, (marks) => tidyTail(marks.replace(/\s/g, ''), abbreviated))
}

function tidyTail(marks: string, abbreviated: boolean): string {
  const dots = marks.startsWith('...') ? '...' : marks.startsWith('…') ? '…' : ''
  const remainingMarks = dots ? marks.replace(/^[.…]+/, '') : marks.replace(/(.)\1+/gu, '$1')
  // The full stop of an abbreviation is part of the word: etc., and U.S.? are right.
  if (abbreviated && remainingMarks.startsWith('.'))
    return `.${tidyTail(remainingMarks.replaceAll('.', ''), false)}`
  const strong = remainingMarks.match(/[.!?。！？؟।]/gu)
  if (!strong) return dots || remainingMarks.slice(0, 1)
  const strongest = [...new Set(strong)].filter((mark) => /[!?！？؟]/u.test(mark))
  return dots + (strongest.length > 0 ? strongest.join('') : dots ? '' : strong[0])
}
