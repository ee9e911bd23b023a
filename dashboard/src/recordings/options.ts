import { signal } from '@preact/signals'
import type { texts } from '../texts.ts'

export type Switch = keyof typeof texts.options.switches
export type Preset = keyof typeof texts.options.presets
export type SummaryType = keyof typeof texts.options.summaryTypes
export type ChannelMode = keyof typeof texts.options.channelModes

/** What the form asks for a recording. */
export type Options = {
  preset: Preset
  /** Empty: detect. */
  language: string
  /** Empty: find out. */
  speakers: string
  vocabulary: string
  channelMode: ChannelMode
  summaryType: SummaryType
  /** Empty: no translation. */
  translateTo: string
  /** Empty: nothing is asked. */
  question: string
  switches: readonly Switch[]
}

/** What each preset switches on. */
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
  ...{ preset: 'plain', language: '', vocabulary: '' },
  ...{ summaryType: 'general', translateTo: '', question: '' },
  ...presets.plain,
})

/** Returns the options with those of a preset. */
export function applyPreset(given: Options, preset: Preset): Options {
  return { ...given, preset, ...presets[preset] }
}

/** Returns the request that the options stand for, but for the recording. */
export function toRequest(given: Options, { unavailable }: { unavailable: ReadonlySet<string> }) {
  const { language, speakers, vocabulary, channelMode, summaryType } = given
  const translateTo = unavailable.has('translation') ? '' : given.translateTo
  const question = unavailable.has('audio_to_llm') ? '' : given.question.trim()
  const switches = given.switches.filter((name) => !unavailable.has(name))
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
    ...(switches.includes('subtitles') && { subtitles_config: { formats: ['srt', 'vtt'] } }),
  }
}
