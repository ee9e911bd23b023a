import { type PiiRedactionConfig, redact } from '../../../src/text/redaction/redaction.ts'
import type { Transcript, Utterance } from '../../../src/transcript/transcript.ts'

/** Seconds of a word, and from one word to the next. */
const LENGTH = 0.4
const STEP = 0.5

/**
 * Creates utterances of ten seconds each, one per line. A line may begin with its channel, or
 * channel and speaker: `1: yes`, `0/2: yes`.
 */
export function buildTranscript(...lines: string[]): Transcript {
  const utterances = lines.map((line, i): Utterance => {
    const [, channel = '0', speaker, phrase] = /^(?:(\d)(?:\/(\d))?: )?(.*)$/s.exec(line)!
    const words = phrase!.split(' ').map((text, k) => {
      const start = i * 10 + k * STEP
      return { text, start, end: start + LENGTH, confidence: 0.9 }
    })
    const speakerOf = speaker === undefined ? {} : { speaker: Number(speaker) }
    return { channel: Number(channel), language: 'en', words, ...speakerOf }
  })
  return { utterances }
}

/** Returns the utterances of a transcript as lines. */
export function linesOf({ utterances }: Transcript): string[] {
  return utterances.map(({ words }) => words.map(({ text }) => text).join(' '))
}

/** Returns what is left of lines after redaction. */
export function redacted(lines: readonly string[], config: PiiRedactionConfig = {}): string[] {
  return linesOf(redact(buildTranscript(...lines), config).transcript)
}
