import { wordPartsOf } from '../word-parts.ts'
import { abbreviationOf } from './abbreviations.ts'

/** Marks and spaces at the end of a word, before closing quotes or brackets. */
const TRAILING_MARKS = /(?<=[\p{L}\p{M}\p{N}])[\s.,;:!?…，、。；：！？؟،।]+(?=["'”’»)\]]*$)/u

/**
 * Tidies the punctuation of a word: removes spaces before marks, repeated marks and a comma beside
 * a full stop. It adds no marks. The marks of a word without a letter or digit stay, as do French
 * ones, which have spaces before them.
 */
export function tidyPunctuation(text: string, language: string): string {
  const parts = text.split(/[ \t\r\n]+/).filter((part) => part !== '')
  const singleSpaced = parts.join(' ')
  if (language === 'fr' || singleSpaced === '') return singleSpaced || text
  const { core } = wordPartsOf(singleSpaced)
  const isAbbreviation = abbreviationOf(core, language) !== undefined
  return singleSpaced.replace(TRAILING_MARKS, (marks) =>
    tidyMarks(marks.replace(/\s/g, ''), isAbbreviation),
  )
}

function tidyMarks(marks: string, isAbbreviation: boolean): string {
  const ellipsis = marks.startsWith('...') ? '...' : marks.startsWith('…') ? '…' : ''
  const remainingMarks = ellipsis ? marks.replace(/^[.…]+/, '') : marks.replace(/(.)\1+/gu, '$1')
  // The full stop of an abbreviation is part of the word: etc., and U.S.? are right.
  if (isAbbreviation && remainingMarks.startsWith('.'))
    return `.${tidyMarks(remainingMarks.replaceAll('.', ''), false)}`
  const sentenceMarks = remainingMarks.match(/[.!?。！？؟।]/gu)
  if (!sentenceMarks) return ellipsis || remainingMarks.slice(0, 1)
  const questionsAndExclamations = [...new Set(sentenceMarks)].filter((mark) =>
    /[!?！？؟]/u.test(mark),
  )
  return (
    ellipsis +
    (questionsAndExclamations.length > 0
      ? questionsAndExclamations.join('')
      : ellipsis
        ? ''
        : sentenceMarks[0])
  )
}
