import type { SubtitleFormat } from '../../../text/formats/subtitles/subtitles.ts'
import { readChoice, UsageError } from '../../terminal/arguments.ts'
import { type Format, subtitleFormats } from '../formats.ts'
import { readRedactTypes } from './redact-types.ts'
import { readSpellingFile } from './spelling-file.ts'
import { readVocabularyFile } from './vocabulary-file.ts'

/** The options of `steno transcribe` that request more than the text. */
export const addOnOptions = {
  subtitles: { type: 'string', multiple: true },
  'subtitle-style': { type: 'string' },
  sentences: { type: 'boolean' },
  punctuation: { type: 'boolean' },
  vocabulary: { type: 'string' },
  spelling: { type: 'string' },
  entities: { type: 'boolean' },
  sentiment: { type: 'boolean' },
  summary: { type: 'string' },
  chapters: { type: 'boolean' },
  translate: { type: 'string', multiple: true },
  ask: { type: 'string', multiple: true },
  speakers: { type: 'string' },
  channels: { type: 'string' },
  redact: { type: 'string', multiple: true },
  'redact-mode': { type: 'string' },
  numbers: { type: 'string' },
  'no-fillers': { type: 'boolean' },
  'mask-profanity': { type: 'boolean' },
} as const

/** The text of these options in `--help`. */
export const addOnHelp = `
Add-ons:
  --subtitles LIST    write srt, vtt or both (srt,vtt) as separate files: beside the recording, beside the
                      output with -o, in this folder for URLs and standard input
  --subtitle-style S  default or compliance, which is stricter: 2 rows of 42 characters, gaps between captions
  --sentences         the text, one sentence per line
  --summary[=TYPE]    a summary: general (default), bullet_points or concise; without a language model, it
                      consists of key sentences
  --chapters          parts by topic, with times and titles
  --translate LIST    translations into these languages, such as de,fr, also of the subtitle files (talk.de.srt);
                      needs a language model, Apertium (STENO_APERTIUM), or for en a multilingual Whisper model
  --ask TEXT          an answer to this prompt about the recording; may be repeated; needs a language
                      model (STENO_LLM_URL and STENO_LLM_MODEL)
  --entities          named entities (names, places, numbers, ...) with times
  --sentiment         sentiment and emotion of each sentence
  --punctuation       improved punctuation and capitalization
  --speakers[=N]      label speakers; their number is detected, or given as N or N-M
  --channels MODE     mix: one transcript of all channels; separate: one per channel; auto (default): mix if the
                      channels contain the same speech
  --vocabulary FILE   custom vocabulary: JSON, a list of words or of entries as in the API
  --spelling FILE     custom spelling: JSON, such as {"ACME": ["acme", "ack me"]}
  --redact LIST       redact personal data everywhere: all, or a list of names, cards, phones, emails,
                      addresses, dates, pci, gdpr, hipaa and the entity types of the API
  --redact-mode MODE  marker writes [NAME_GIVEN_1] (default), mask writes ####
  --numbers STYLE     write all numbers as digits, or all as words; default: as recognized
  --no-fillers        leave out fillers such as um and uh
  --mask-profanity    mask swear words: d***
`

const channelModes = ['auto', 'mix', 'separate'] as const
const summaryTypes = ['general', 'bullet_points', 'concise'] as const

/** The values of `--speakers`: `auto`, an exact number, or a range. */
const speakerCounts = /^(?:auto|(\d{1,4})(?:-(\d{1,4}))?)$/

/** Options whose value is optional: a test for a value, and the default. */
const optionalValues = new Map([
  [
    '--summary',
    { isValue: (text: string) => summaryTypes.some((type) => type === text), fallback: 'general' },
  ],
  ['--speakers', { isValue: (text: string) => speakerCounts.test(text), fallback: 'auto' }],
])

/**
 * Adds the defaults to `--summary` and `--speakers` without a value, which the parser does not
 * support.
 */
export function completeOptions(args: readonly string[]): string[] {
  const end = args.indexOf('--')
  const completed: string[] = []
  for (let i = 0; i < args.length; i++) {
    const option = end < 0 || i < end ? optionalValues.get(args[i]!) : undefined
    if (!option) completed.push(args[i]!)
    else if (option.isValue(args[i + 1] ?? '')) completed.push(args[i]!, args[++i]!)
    else completed.push(`${args[i]!}=${option.fallback}`)
  }
  return completed
}

type AddOnOptions = typeof addOnOptions
type AddOnValues = { [name in keyof AddOnOptions]?: ValueOf<AddOnOptions[name]> | undefined }
type ValueOf<T extends { type: string }> = T extends { multiple: true }
  ? string[]
  : T['type'] extends 'boolean'
    ? boolean
    : string

/** Reads `--subtitles`, which may be repeated, and returns the formats without duplicates. */
export function readSubtitleFormats(lists: readonly string[] = []): SubtitleFormat[] {
  const names = lists.flatMap((list) => list.split(','))
  const formats = names.map((name) => {
    return readChoice(name.trim(), { name: 'subtitles', choices: subtitleFormats })
  })
  return [...new Set(formats)]
}

/** Reads `--translate`, which may be repeated, and returns the languages without duplicates. */
export function readTargets(lists: readonly string[] = []): string[] {
  const targets = lists.flatMap((list) => list.split(',')).map((code) => code.trim())
  if (!targets.every((code) => /^[a-z]+(?:[-_][a-z]+)*$/i.test(code))) {
    throw new UsageError('--translate must list language codes, such as de,fr')
  }
  return [...new Set(targets)]
}

/** Reads `--translate` as the fields of a request. */
export function readTranslation(lists?: readonly string[]): Record<string, unknown> {
  const targets = readTargets(lists)
  if (targets.length === 0) return {}
  return { translation: true, translation_config: { target_languages: targets } }
}

/** Reads `--summary` and `--ask` as the fields of a request. */
export function readPostProcessing({
  summary,
  ask = [],
}: {
  summary?: string | undefined
  ask?: string[] | undefined
}): Record<string, unknown> {
  if (ask.some((prompt) => prompt.trim() === '')) throw new UsageError('--ask must not be empty')
  return {
    ...(summary !== undefined && {
      summarization: true,
      summarization_config: {
        type: readChoice(summary, { name: 'summary', choices: summaryTypes }),
      },
    }),
    ...(ask.length > 0 && { audio_to_llm: true, audio_to_llm_config: { prompts: ask } }),
  }
}

/**
 * Converts the options to fields of a job request, and reads the files that they name. Any problem
 * throws a `UsageError`.
 */
export async function readJobParams(
  values: AddOnValues & { language?: string | undefined },
  { format }: { format: Format },
): Promise<Record<string, unknown>> {
  const { language, vocabulary, spelling } = values
  return {
    ...(language && { language_config: { languages: [language] } }),
    ...readSubtitles(values, format),
    ...(values.sentences && { sentences: true }),
    ...(values.punctuation && { punctuation_enhanced: true }),
    ...(values.entities && { named_entity_recognition: true }),
    ...(values.sentiment && { sentiment_analysis: true }),
    ...(values.chapters && { chapters: true }),
    ...readTranslation(values.translate),
    ...readPostProcessing(values),
    ...readSpeakers(values.speakers),
    ...readStyle(values),
    ...(values.channels !== undefined && {
      channel_mode: readChoice(values.channels, { name: 'channels', choices: channelModes }),
    }),
    ...readRedaction(values),
    ...(vocabulary !== undefined && {
      custom_vocabulary: true,
      custom_vocabulary_config: await readVocabularyFile(vocabulary),
    }),
    ...(spelling !== undefined && {
      custom_spelling: true,
      custom_spelling_config: await readSpellingFile(spelling),
    }),
  }
}

function readSubtitles(values: AddOnValues, format: Format): Record<string, unknown> {
  const requested = readSubtitleFormats(values.subtitles)
  const formats = subtitleFormats.filter((name) => name === format || requested.includes(name))
  const style = values['subtitle-style']
  if (formats.length === 0) {
    if (style === undefined) return {}
    throw new UsageError('--subtitle-style needs --subtitles, or --format srt or vtt')
  }
  const choices = ['default', 'compliance'] as const
  return {
    subtitles: true,
    subtitles_config: {
      formats,
      style: readChoice(style, { name: 'subtitle-style', choices }),
      speakers: true,
    },
  }
}

function readStyle(values: AddOnValues): Record<string, unknown> {
  const { numbers } = values
  const choices = ['digits', 'words'] as const
  return {
    ...(numbers !== undefined && {
      number_formatting: true,
      number_formatting_config: { style: readChoice(numbers, { name: 'numbers', choices }) },
    }),
    ...(values['no-fillers'] && { filler_removal: true }),
    ...(values['mask-profanity'] && { profanity_filter: true }),
  }
}

function readSpeakers(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {}
  const counts = speakerCounts.exec(text)
  const [min, max] = [counts?.[1], counts?.[2]].map((count) => count && Number(count))
  if (!counts || min === 0 || (max !== undefined && Number(min) > Number(max))) {
    throw new UsageError(`--speakers takes a number such as 2, or a range such as 2-4, not ${text}`)
  }
  if (!min) return { diarization: true }
  const config = max ? { min_speakers: min, max_speakers: max } : { number_of_speakers: min }
  return { diarization: true, diarization_config: config }
}

function readRedaction({ redact, 'redact-mode': mode }: AddOnValues): Record<string, unknown> {
  if (redact === undefined) {
    if (mode === undefined) return {}
    throw new UsageError('--redact-mode needs --redact')
  }
  const types = readRedactTypes(redact.join(','))
  const choices = ['marker', 'mask'] as const
  const processed = readChoice(mode?.toLowerCase(), { name: 'redact-mode', choices }).toUpperCase()
  return {
    pii_redaction: true,
    pii_redaction_config: {
      ...(types && { entity_types: types }),
      processed_text_type: processed,
    },
  }
}
