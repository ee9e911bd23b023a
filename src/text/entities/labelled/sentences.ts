import { readFileSync } from 'node:fs'
import type { EntityType } from '../entity-types.ts'

/** A sentence whose entities are known. Offsets as in entities, `to` exclusive. */
export type LabelledSentence = {
  text: string
  entities: { type: EntityType; from: number; to: number }[]
}

/** The sentences of `frozen.txt` or `tuning.txt`, where `[TYPE words]` marks an entity. */
export function labelledSentences(half: 'frozen' | 'tuning'): LabelledSentence[] {
  const lines = readFileSync(new URL(`${half}.txt`, import.meta.url), 'utf8').split('\n')
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map(parse)
}

function parse(line: string): LabelledSentence {
  const sentence: LabelledSentence = { text: '', entities: [] }
  let at = 0
  for (const { 0: mark, 1: type, 2: words, index } of line.matchAll(/\[([A-Z_]+) ([^\]]+)\]/g)) {
    sentence.text += line.slice(at, index)
    const from = sentence.text.length
    sentence.text += words
    sentence.entities.push({ type: type as EntityType, from, to: sentence.text.length })
    at = index + mark.length
  }
  sentence.text += line.slice(at)
  return sentence
}
