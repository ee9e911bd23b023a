import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { SpeakerTurn, SpokenText } from './diarization-error.ts'

/**
 * A recording with the reference turns of its speakers, and, if the corpus has it, the reference
 * text of each speaker.
 */
export type Conversation = {
  id: string
  file: string
  group: string
  turns: SpeakerTurn[]
  reference: SpokenText | undefined
}

type ManifestItem = {
  id: string
  file: string
  group: string
  kind?: string
  language: string | null
  rttm?: string
  utterances?: { speaker?: string; text?: string }[]
}

/**
 * Returns the English recordings with turns (`rttm`) of the corpus in `--corpus DIR`; the fixtures
 * of the tests have none.
 */
export async function readConversations(): Promise<Conversation[]> {
  const { values } = parseArgs({ options: { corpus: { type: 'string' } } })
  const folder = resolve(values.corpus ?? join(import.meta.dirname, '../../../test/fixtures'))
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as {
    items: ManifestItem[]
  }
  return manifest.items
    .filter(({ rttm, kind, language }) => rttm && kind !== 'synthetic' && language === 'en')
    .map(({ id, file, group, rttm, utterances }) => ({
      id,
      file: join(folder, file),
      group,
      turns: parseRttm(readFileSync(join(folder, rttm!), 'utf8')),
      reference: referenceIn(utterances ?? []),
    }))
}

/** Parses NIST's RTTM, with lines `SPEAKER file channel start seconds <NA> <NA> name <NA> <NA>`. */
function parseRttm(text: string): SpeakerTurn[] {
  const lines = text.split('\n').filter((line) => line.startsWith('SPEAKER'))
  return lines.map((line) => {
    const [, , , start, seconds, , , speaker] = line.trim().split(/\s+/)
    return { start: Number(start), end: Number(start) + Number(seconds), speaker: speaker! }
  })
}

/** Returns the text of each speaker; undefined unless each utterance has its speaker and text. */
function referenceIn(utterances: NonNullable<ManifestItem['utterances']>): SpokenText | undefined {
  const reference = new Map<string, string>()
  for (const { speaker, text } of utterances) {
    if (!speaker || !text) return undefined
    reference.set(speaker, `${reference.get(speaker) ?? ''} ${text}`)
  }
  return reference.size > 0 ? reference : undefined
}
