import { signal } from '@preact/signals'
import type { texts } from '../texts.ts'

export type Switch = keyof typeof texts.options.switches
export type Preset = keyof typeof texts.options.presets
export type SummaryType = keyof typeof texts.options.summaryTypes
export type ChannelMode = keyof typeof texts.options.channelModes

/**
 * For each add-on: whether it is on, and the fields of its configuration that no other option sets.
 */
export type AddOnChoices = Readonly<
  Record<string, { isOn: boolean; config: Readonly<Record<string, unknown>> }>
>

/** The options of a recording in the form. */
export type Options = {
  preset: Preset
  /** Empty to identify the language. */
  language: string
  /** Empty if the number is unknown. */
  speakers: string
  vocabulary: string
  channelMode: ChannelMode
  summaryType: SummaryType
  /** Empty for no translation. */
  translateTo: string
  /** Empty for no prompt. */
  question: string
  switches: readonly Switch[]
  /** One `name=value` on each line. */
  metadata: string
  more: AddOnChoices
}

/** The options that each preset switches on. */
const presets: Record<Preset, Pick<Options, 'switches' | 'channelMode' | 'speakers'>> = {
  plain: { switches: [], channelMode: 'auto', speakers: '' },
  interview: { switches: ['diarization'], channelMode: 'auto', speakers: '2' },
  meeting: {
    switches: ['diarization', 'summarization', 'chapters', 'named_entity_recognition'],
    channelMode: 'auto',
    speakers: '',
  },
  call: {
    switches: ['diarization', 'summarization', 'sentiment_analysis'],
    channelMode: 'auto',
    speakers: '',
  },
  captions: { switches: ['subtitles'], channelMode: 'mix', speakers: '' },
}

/** The options of the next recordings. */
export const options = signal<Options>({
  preset: 'plain',
  language: '',
  vocabulary: '',
  summaryType: 'general',
  translateTo: '',
  question: '',
  metadata: '',
  more: {},
  ...presets.plain,
})

/** Returns the options with those of a preset. */
export function applyPreset(options: Options, preset: Preset): Options {
  return { ...options, preset, ...presets[preset] }
}

/** Returns the fields of the request for these options, without the recording. */
export function toRequest(
  options: Options,
  { unavailable }: { unavailable: ReadonlySet<string> },
): Record<string, unknown> {
  const request = basicRequest(options, unavailable)
  for (const [name, { isOn, config }] of Object.entries(options.more)) {
    if (unavailable.has(name) || !(isOn || request[name] === true)) continue
    request[name] = true
    const set = Object.entries(config).filter(([, value]) => value !== undefined)
    if (set.length === 0) continue
    request[`${name}_config`] = {
      ...(request[`${name}_config`] as object),
      ...Object.fromEntries(set),
    }
  }
  return request
}

function basicRequest(options: Options, unavailable: ReadonlySet<string>): Record<string, unknown> {
  const { language, speakers, vocabulary, channelMode, summaryType } = options
  const translateTo = unavailable.has('translation') ? '' : options.translateTo
  const question = unavailable.has('audio_to_llm') ? '' : options.question.trim()
  const switches = options.switches.filter((name) => !unavailable.has(name))
  const terms = vocabulary.split('\n').flatMap((line) => line.trim() || [])
  const count = switches.includes('diarization') ? Number(speakers) : 0
  return {
    ...Object.fromEntries(switches.map((name) => [name, true])),
    ...(language && { language_config: { languages: [language], code_switching: false } }),
    ...(count > 0 && { diarization_config: { number_of_speakers: count } }),
    ...(terms.length > 0 && {
      custom_vocabulary: true,
      custom_vocabulary_config: { vocabulary: terms },
    }),
    ...(switches.includes('summarization') && { summarization_config: { type: summaryType } }),
    ...(translateTo && {
      translation: true,
      translation_config: { target_languages: [translateTo] },
    }),
    ...(question && { audio_to_llm: true, audio_to_llm_config: { prompts: [question] } }),
    ...(channelMode !== 'auto' && { channel_mode: channelMode }),
    ...metadataOf(options.metadata),
    ...(switches.includes('subtitles') && { subtitles_config: { formats: ['srt', 'vtt'] } }),
  }
}

/** A line of metadata, whose name must not be empty. */
const METADATA_LINE = /^\s*([^=\s][^=]*)=(.*)$/

/** Returns the lines that are no metadata, and so are not sent. */
export function wrongMetadata(lines: string): string[] {
  return lines.split('\n').filter((line) => line.trim() !== '' && !METADATA_LINE.test(line))
}

function metadataOf(lines: string): { custom_metadata?: Record<string, string> } {
  const pairs = lines.split('\n').flatMap((line) => {
    const [, name, value] = METADATA_LINE.exec(line) ?? []
    return name ? [[name.trim(), value!.trim()] as const] : []
  })
  return pairs.length > 0 ? { custom_metadata: Object.fromEntries(pairs) } : {}
}
