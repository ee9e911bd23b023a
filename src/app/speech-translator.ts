import { type EngineOptions, MAX_TRANSLATED, type SpeechEngine } from '../asr/speech-engine.ts'
import { SAMPLE_RATE } from '../audio/pcm.ts'
import type {
  ChannelAudio,
  ServiceCallOptions,
  ServiceRequest,
} from '../text/service-add-ons/service-add-on.ts'
import type { AudioSpans } from '../text/service-add-ons/translation.ts'

/** Word times are off by up to this many seconds, so a little more audio is used on both sides. */
const MARGIN = 0.2
/** Maximum spans of one task: enough to keep a process busy, few enough to cancel soon. */
const MAX_SPANS = 8

/** The fields of a request of `text/service-add-ons/translation.ts`. */
type Fields = { languages: string[]; spoken?: AudioSpans[] }

/** A span of a text, as samples of a channel. */
type SpokenSpan = { text: number; channel: number; language: string; start: number; end: number }

/** Translates speech into English, as Whisper can. */
export type SpeechTranslator = Pick<SpeechEngine, 'translatedLanguages' | 'translate'>

/**
 * Returns whether a request can be answered from the audio: it is for English, nothing is redacted,
 * and models for all of its languages are installed.
 */
export function canTranslateAudio(
  speech: SpeechTranslator,
  request: ServiceRequest,
  { audio }: Pick<ServiceCallOptions, 'audio'>,
): boolean {
  const { languages, spoken } = request as unknown as Fields
  if (!audio || !spoken) return false
  const translatedLanguages = speech.translatedLanguages
  return languages.every((language) => translatedLanguages.includes(language))
}

/** Translates each text of a request into English from its audio. */
export async function translateSpeech(
  speech: SpeechTranslator,
  request: ServiceRequest,
  { audio = [], signal }: Pick<ServiceCallOptions, 'audio'> & EngineOptions,
): Promise<{ texts: string[]; isHeard: true }> {
  const { languages, spoken = [] } = request as unknown as Fields
  const texts = languages.map(() => '')
  for (const spans of tasksOf(languages, spoken, audio)) {
    const [{ channel, language }] = spans as [SpokenSpan]
    const { path } = audio.find((recording) => recording.channel === channel)!
    const translated = await speech.translate({ path, segments: spans, language }, { signal })
    for (const [i, { text }] of spans.entries())
      texts[text] = `${texts[text]} ${translated[i]}`.trim()
  }
  return { texts, isHeard: true }
}

/** Groups spans that are translated together: of one channel, in one language. */
function tasksOf(
  languages: readonly string[],
  spoken: readonly AudioSpans[],
  audio: readonly ChannelAudio[],
): SpokenSpan[][] {
  const tasks: SpokenSpan[][] = []
  for (const [text, { channel, spans }] of spoken.entries()) {
    const samples = audio.find((recording) => recording.channel === channel)?.samples ?? 0
    const language = languages[text]!
    for (const [start, end] of spans) {
      const span = { text, channel, language, ...inSamples(start, end, samples) }
      const last = tasks.at(-1)
      const [first] = last ?? []
      const isAlike = first && first.channel === channel && first.language === language
      if (last && isAlike && last.length < MAX_SPANS) last.push(span)
      else tasks.push([span])
    }
  }
  return tasks
}

function inSamples(start: number, end: number, samples: number): { start: number; end: number } {
  const from = Math.max(0, Math.floor((start - MARGIN) * SAMPLE_RATE))
  const to = Math.min(samples, Math.ceil((end + MARGIN) * SAMPLE_RATE))
  return { start: from, end: Math.max(from + 1, Math.min(to, from + MAX_TRANSLATED * SAMPLE_RATE)) }
}
