import { applyEdits } from '../edits/apply-edits.ts'
import { readEdits } from '../edits/edit-task.ts'
import { speakerLabelsOf } from '../formats/speaker-labels.ts'
import type { StoredResult } from '../result/stored-result.ts'
import { splitWords, toNameTerm } from './search-words.ts'
import { loadToTerm } from './stemmers.ts'

/** An utterance as it is indexed. Times are in seconds. */
export type SearchableUtterance = {
  start: number
  end: number
  channel: number
  speaker: number | null
  /** The name that a correction gave the speaker or the channel. */
  speakerName: string | null
  language: string
  text: string
  /** The terms of the words, in order, and then that of the speaker's name, if there is one. */
  terms: string[]
}

/** The JSON text of a stored result, and the corrections of its transcript, oldest first. */
export type SearchedResult = { result: string; edits: readonly string[] }

/**
 * Returns the utterances of a stored result with its corrections. They do not contain redacted
 * words.
 */
export async function searchableUtterances({
  result,
  edits,
}: SearchedResult): Promise<SearchableUtterance[]> {
  const { utterances } = (JSON.parse(result) as StoredResult).transcription
  const { state, isIgnored } = readEdits(utterances, edits)
  const searchable: SearchableUtterance[] = []
  const corrected = edits.length === 0 || isIgnored ? utterances : applyEdits(utterances, state)
  const nameOf = speakerLabelsOf([], isIgnored ? undefined : state)
  for (const { start, end, channel, speaker, language, text } of corrected) {
    const toTerm = await loadToTerm(language)
    const terms = splitWords(text).map(({ text }) => toTerm(text))
    if (terms.length === 0) continue
    const name = nameOf({ speaker, channel })
    const nameTerm = name === undefined ? undefined : toNameTerm(name)
    if (nameTerm !== undefined) terms.push(nameTerm)
    const place = { start, end, channel, speaker: speaker ?? null, language }
    searchable.push({ ...place, speakerName: name ?? null, text: text.trim(), terms })
  }
  return searchable
}
