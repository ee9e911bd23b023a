import { separatorOf } from '../../transcript/separators.ts'
import type { Utterance } from '../../transcript/transcript.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'
import { applyEdits } from '../edits/apply-edits.ts'
import { readEdits } from '../edits/edit-task.ts'
import { formatCsv } from '../formats/csv.ts'
import { type OpenAiFormat, writeOpenAi } from '../formats/openai.ts'
import { speakerLabelsOf, type VoiceNames } from '../formats/speaker-labels.ts'
import { splitCaptions } from '../formats/subtitles/split-captions.ts'
import { formatSubtitles, formatWithVoices } from '../formats/subtitles/subtitles.ts'
import { formatWordDocument } from '../formats/word-document.ts'
import type { AddOnError, Envelope } from './steps/envelope.ts'
import { languagesBySpeech } from './transcript-result.ts'

/**
 * A transcript to write: the JSON text of a stored result, the corrections to apply (see
 * `EditTask`; they do not apply to translations), and the format.
 */
export type TranscriptFile = { result: string; edits?: readonly string[] } & TranscriptFormat

/** The format of a transcript: a file, or the response of OpenAI's API. */
export type TranscriptFormat =
  | FileFormat
  | ({ format: 'openai' } & OpenAiFormat & TranslationChoice)

/** A translation instead of the words as they were spoken, by its language. */
type TranslationChoice = { translation?: string | undefined }

type FileFormat = TranslationChoice & {
  format: 'txt' | 'srt' | 'vtt' | 'json' | 'csv' | 'docx'
  /** Whether to name speakers or, if there are none, channels. */
  speakers: boolean
  /** Whether JSON contains the words. */
  words: boolean
}

type ResultTranscription = {
  full_transcript: string
  languages: string[]
  utterances: UtteranceView[]
  /** The names of speakers or channels in a corrected transcript. */
  names?: VoiceNames
}

type DocumentSource = {
  transcription: ResultTranscription
  metadata: { audio_duration: number }
  translation?: Envelope & {
    results: (ResultTranscription & { error: AddOnError | null })[] | null
  }
}

/** A written transcript; only `docx` is not text. `problem`: why there is no such translation. */
export type WrittenTranscript = string | Uint8Array | { problem: string }

/** Writes the words of a stored result as a file. */
export function writeTranscriptFile({
  result,
  edits = [],
  ...chosen
}: TranscriptFile): WrittenTranscript {
  const stored = JSON.parse(result) as DocumentSource
  const { metadata } = stored
  if (edits.length > 0) stored.transcription = applyCorrections(stored.transcription, edits)
  const transcription = chooseTranscription(stored, chosen)
  if ('problem' in transcription) return transcription
  if (chosen.format === 'openai') {
    return writeOpenAi({ ...transcription, duration: metadata.audio_duration }, chosen)
  }
  const { format, speakers } = chosen
  if (format === 'json') return writeJson(transcription, chosen)
  if (format === 'txt') return writeLines(transcription, chosen)
  if (format === 'csv') return writeTable(transcription, chosen)
  if (format === 'docx') return writeDocument(transcription, chosen)
  const utterances = transcription.utterances.map(toUtterance)
  const { names } = transcription
  if (speakers) return formatWithVoices(utterances, format, names && { names })
  return formatSubtitles(splitCaptions(utterances), format)
}

/** Applies corrections, unless they are for other words. */
function applyCorrections(
  transcription: ResultTranscription,
  edits: readonly string[],
): ResultTranscription {
  const { state, isIgnored } = readEdits(transcription.utterances, edits)
  if (isIgnored) return transcription
  const utterances = applyEdits(transcription.utterances, state)
  return {
    full_transcript: utterances.map(({ text }) => text.trim()).join(' '),
    languages: languagesBySpeech(utterances),
    utterances,
    names: state,
  }
}

function chooseTranscription(
  { transcription, translation }: DocumentSource,
  { translation: target }: TranslationChoice,
): ResultTranscription | { problem: string } {
  // What is in the language already needs no model.
  const isDone = transcription.utterances.every(({ language }) => language === target)
  if (target === undefined || isDone) return transcription
  const found = translation?.results?.find(({ languages }) => languages[0] === target)
  if (found && !found.error) return found
  const { message } = found?.error ?? translation?.error ?? {}
  return { problem: message ?? `the result has no translation into ${target}` }
}

function writeJson(
  transcription: ResultTranscription,
  chosen: Pick<FileFormat, 'words' | 'speakers'>,
) {
  const { full_transcript, languages, names } = transcription
  const nameOf = names && speakerLabelsOf([], names)
  const utterances = transcription.utterances.map(({ words, speaker, ...rest }) => {
    const name = nameOf?.({ speaker, channel: rest.channel })
    return {
      ...rest,
      text: rest.text.trim(),
      ...(chosen.speakers && speaker !== undefined && { speaker }),
      ...(chosen.speakers && name !== undefined && { speaker_name: name }),
      ...(chosen.words && { words }),
    }
  })
  return `${JSON.stringify({ full_transcript, languages, utterances }, undefined, 2)}\n`
}

function writeLines(
  { utterances, names }: ResultTranscription,
  { speakers }: Pick<FileFormat, 'speakers'>,
) {
  const voiceOf = speakerLabelsOf(utterances, names)
  const lines = utterances.map((utterance) => {
    const voice = speakers ? voiceOf(utterance) : undefined
    return `${voice === undefined ? '' : `${voice}: `}${utterance.text.trim()}\n`
  })
  return lines.join('')
}

function writeTable(
  { utterances, names }: ResultTranscription,
  { speakers }: Pick<FileFormat, 'speakers'>,
): string {
  const voiceOf = speakerLabelsOf(utterances, names)
  return formatCsv(
    utterances.map((utterance) => {
      const { start, end, language, text } = utterance
      const speaker = speakers ? (voiceOf(utterance) ?? '') : ''
      return { start, end, speaker, language, text: text.trim() }
    }),
  )
}

function writeDocument(
  { utterances, names }: ResultTranscription,
  { speakers }: Pick<FileFormat, 'speakers'>,
): Uint8Array {
  const voiceOf = speakerLabelsOf(utterances, names)
  const paragraphs = utterances.map((utterance) => {
    const { start, language, text } = utterance
    return { start, language, text: text.trim(), voice: speakers ? voiceOf(utterance) : undefined }
  })
  return formatWordDocument(paragraphs)
}

/** Words of a live session begin with a space, even the first one. */
function toUtterance({ channel, speaker, language, words }: UtteranceView): Utterance {
  const isSpaced = separatorOf(language) !== ''
  return {
    channel,
    language,
    ...(speaker !== undefined && { speaker }),
    words: words.map(({ word, ...times }) => ({ text: isSpaced ? word.trim() : word, ...times })),
  }
}
