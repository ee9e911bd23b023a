import { readFileSync } from 'node:fs'
import type { Interjection } from '../../../../src/text/entities/document.ts'
import type { EntityType } from '../../../../src/text/entities/entity-types.ts'

/** A sentence with known entities. Offsets as in entities, `to` exclusive. */
export type LabeledSentence = {
  text: string
  /** The words of the other channel in between, as in a document. */
  interjections: Interjection[]
  entities: { type: EntityType; from: number; to: number }[]
}

/** The files of labeled sentences; nothing is tuned to the frozen ones. */
export type LabeledFile = 'frozen' | 'tuning' | 'calls-frozen' | 'calls-tuning'

/**
 * Returns the sentences of a file, where `[TYPE words]` marks an entity; for a call, the sentences
 * of each channel.
 */
export function labeledSentences(file: LabeledFile): LabeledSentence[] {
  const lines = readFileSync(new URL(`${file}.txt`, import.meta.url), 'utf8').split('\n')
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => (line.startsWith('A: ') ? parseTalk(line) : [parse(line)]))
}

function parse(line: string): LabeledSentence {
  const sentence: LabeledSentence = { text: '', interjections: [], entities: [] }
  append(sentence, line)
  return sentence
}

function parseTalk(line: string): LabeledSentence[] {
  const turns = line.split(' // ').map((turn) => ({ who: turn[0]!, spokenText: turn.slice(3) }))
  return ['A', 'B'].map((channel) => {
    const sentence = parse('')
    for (const [i, { who, spokenText }] of turns.entries()) {
      if (who !== channel) continue
      if (sentence.text !== '') sentence.text += ' '
      const other = turns[i - 1]
      if (other)
        sentence.interjections.push({
          at: sentence.text.length,
          text: parse(other.spokenText).text,
        })
      append(sentence, spokenText)
    }
    return sentence
  })
}

function append(sentence: LabeledSentence, line: string): void {
  let at = 0
  for (const { 0: mark, 1: type, 2: words, index } of line.matchAll(/\[([A-Z_]+) ([^\]]+)\]/g)) {
    sentence.text += line.slice(at, index)
    const from = sentence.text.length
    sentence.text += words
    sentence.entities.push({ type: type as EntityType, from, to: sentence.text.length })
    at = index + mark.length
  }
  sentence.text += line.slice(at)
}
