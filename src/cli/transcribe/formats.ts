import { extname } from 'node:path'
import { speakerLabelsOf } from '../../text/formats/speaker-labels.ts'
import { formatWithVoices, type SubtitleFormat } from '../../text/formats/subtitles/subtitles.ts'
import { formatWordDocument } from '../../text/formats/word-document.ts'
import type { Utterance } from '../../transcript/transcript.ts'
import type { ApiPreRecordedResult, ApiUtterance } from '../client/api-types.ts'
import { readChoice, UsageError } from '../terminal/arguments.ts'
import type { Output } from '../terminal/terminal.ts'
import { formatAddOns } from './add-on-text.ts'

/** The values of `--subtitles`. */
export const subtitleFormats = ['srt', 'vtt'] as const
/** The values of `--format`. */
export const formats = ['txt', 'json', ...subtitleFormats, 'docx'] as const
/** A value of `--format`. */
export type Format = (typeof formats)[number]

/**
 * File name extensions of formats that are not supported: a file with such a name would contain
 * another format.
 */
const OTHER_FORMATS = /^(?:pdf|doc|odt|rtf|html?|xml|csv|tsv|xlsx?|ttml|sbv|ass|ssa|lrc)$/

/** Reads `--format` and `--json`; without them, the extension of the output decides the format. */
export function readFormat({
  format,
  json = false,
  output = '',
}: {
  format?: string | undefined
  json?: boolean | undefined
  output?: string | undefined
}): Format {
  if (json && format !== undefined && format !== 'json') {
    throw new UsageError(`--json and --format ${format} exclude each other`)
  }
  const extension = /[/\\]$/.test(output) ? '' : extname(output).slice(1).toLowerCase()
  const namedFormat = formats.find((format) => format === extension)
  if (OTHER_FORMATS.test(extension) && !json && format === undefined) {
    throw new UsageError(`cannot write ${extension} files: choose one of ${formats.join(', ')}`)
  }
  return json ? 'json' : readChoice(format ?? namedFormat, { name: 'format', choices: formats })
}

/** Refuses to show a format on a terminal that is not text. */
export function refuseTerminal(format: string, { isTTY }: Output): void {
  if (format !== 'docx' || !isTTY) return
  throw new UsageError('docx is not text: redirect the output to a file such as talk.docx')
}

/** Writes a result as text in one of the formats, with a line end after the last line. */
export function formatResult(result: ApiPreRecordedResult, format: Exclude<Format, 'docx'>): string
/** Writes a result in any of the formats; only `docx` is not text. */
export function formatResult(result: ApiPreRecordedResult, format: Format): string | Uint8Array
export function formatResult(result: ApiPreRecordedResult, format: Format): string | Uint8Array {
  if (format === 'json') return `${JSON.stringify(result, undefined, 2)}\n`
  if (format === 'txt') return formatText(result) + formatAddOns(result)
  if (format === 'docx') return documentOf(result)
  return subtitlesOf(result, format)
}

function documentOf({ transcription: { utterances } }: ApiPreRecordedResult): Uint8Array {
  const voiceOf = speakerLabelsOf(utterances)
  const paragraphs = utterances.map((utterance) => {
    const { start, language, text } = utterance
    return { start, language, text: text.trim(), voice: voiceOf(utterance) }
  })
  return formatWordDocument(paragraphs)
}

/**
 * Returns the subtitles of the server. If none were requested, as for a live session, formats them
 * here.
 */
function subtitlesOf({ transcription }: ApiPreRecordedResult, format: SubtitleFormat): string {
  const { utterances, subtitles } = transcription
  if (!subtitles) return formatWithVoices(utterances.map(toUtterance), format)
  const file = subtitles.find((file) => file.format === format)
  if (!file) throw new Error(`The server returned no ${format} subtitles`)
  return file.subtitles
}

/** Returns the translated subtitles of the server; undefined if the translation failed. */
export function formatTranslation(
  { translation }: ApiPreRecordedResult,
  { language, format }: { language: string; format: SubtitleFormat },
): string | undefined {
  const translated = translation?.results?.find(({ languages }) => languages[0] === language)
  return translated?.subtitles?.find((file) => file.format === format)?.subtitles
}

/** Formats one sentence per line if sentences were requested, otherwise one utterance. */
function formatText({ transcription, sentences }: ApiPreRecordedResult): string {
  const lines = sentences?.results?.map((sentence) => {
    return typeof sentence === 'string' ? sentence : sentence.sentence
  })
  return (lines ?? linesOf(transcription.utterances)).map((line) => `${line}\n`).join('')
}

/** Formats utterances as lines, each with its speaker, or with its channel if there are several. */
function linesOf(utterances: readonly ApiUtterance[]): string[] {
  const voiceOf = speakerLabelsOf(utterances)
  return utterances.map((utterance) => {
    const { speaker, text } = utterance
    const voice = speaker === undefined ? voiceOf(utterance) : `Speaker ${speaker + 1}`
    return `${voice === undefined ? '' : `${voice}: `}${text.trim()}`
  })
}

function toUtterance({ channel, speaker, language, words }: ApiUtterance): Utterance {
  return {
    channel,
    language,
    ...(speaker !== undefined && { speaker }),
    words: words.map(({ word, start, end, confidence }) => {
      return { text: word.trim(), start, end, confidence }
    }),
  }
}
