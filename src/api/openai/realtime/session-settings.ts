import { AppError } from '../../../errors.ts'
import { languageSettings, vocabularySettings } from '../hints.ts'
import { isOpenAiModel } from '../request.ts'

/**
 * The version of OpenAI's realtime API that a client uses: `ga` since August 2025, `beta` before.
 */
export type RealtimeVersion = 'ga' | 'beta'

/** The audio that a client sends. */
export type RealtimeFormat = 'pcm16' | 'g711_ulaw' | 'g711_alaw'

/** The bytes per second of each format: samples of 16 bits at 24 kHz, and of 8 bits at 8 kHz. */
export const bytesPerSecond: Record<RealtimeFormat, number> = {
  pcm16: 48_000,
  g711_ulaw: 8000,
  g711_alaw: 8000,
}

/** The settings of a client that this server applies; it ignores all others. */
export type RealtimeSettings = {
  format: RealtimeFormat
  /** The name that the client sent: one of this server, or one of OpenAI's. */
  model: string | undefined
  languages: readonly string[]
  keywords: readonly string[]
  prompt: string
  /**
   * Milliseconds of silence that end a turn; null when the client ends turns itself, undefined when
   * it did not say who does.
   */
  silenceMs: number | null | undefined
  logprobs: boolean
}

/** The default silence that ends a turn. OpenAI's own default of 200 ms splits sentences. */
const DEFAULT_SILENCE_MS = 500
const [MIN_SILENCE_MS, MAX_SILENCE_MS] = [10, 10_000]
/** OpenAI's models with which the client ends turns, unless it asks for something else. */
const MODELS_WITHOUT_TURNS = /^gpt-(live-transcribe|realtime-whisper)/

/** The default settings. */
export const defaultSettings: RealtimeSettings = {
  format: 'pcm16',
  model: undefined,
  languages: [],
  keywords: [],
  prompt: '',
  silenceMs: undefined,
  logprobs: false,
}

type SessionFields = Record<string, unknown>

const formatNames: Record<string, RealtimeFormat> = {
  'audio/pcm': 'pcm16',
  'audio/pcmu': 'g711_ulaw',
  'audio/pcma': 'g711_alaw',
  pcm16: 'pcm16',
  g711_ulaw: 'g711_ulaw',
  g711_alaw: 'g711_alaw',
}

/**
 * Returns the settings after an update in either version. A setting that the update lacks stays
 * unchanged. Throws `request_invalid`.
 */
export function updateSettings(current: RealtimeSettings, session: unknown): RealtimeSettings {
  const sessionFields = asFields(session)
  const input = asFields(asFields(sessionFields.audio).input)
  const isBetaShape = sessionFields.audio === undefined
  const transcription = isBetaShape ? sessionFields.input_audio_transcription : input.transcription
  const { model, language, languages, keywords, prompt } = asFields(transcription)
  const one = readText(language, 'language')
  const detection = isBetaShape ? sessionFields.turn_detection : input.turn_detection
  const format = isBetaShape ? sessionFields.input_audio_format : input.format
  return {
    format: format === undefined ? current.format : readFormat(format),
    model: readText(model, 'model') ?? current.model,
    languages: readTexts(languages, 'languages') ?? (one === undefined ? current.languages : [one]),
    keywords: readTexts(keywords, 'keywords') ?? current.keywords,
    prompt: readText(prompt, 'prompt') ?? current.prompt,
    silenceMs: readSilence(detection, current.silenceMs),
    logprobs: Array.isArray(sessionFields.include)
      ? sessionFields.include.includes('item.input_audio_transcription.logprobs')
      : current.logprobs,
  }
}

function readText(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw invalidRequest(`${name} must be a string`)
  return value
}

function readTexts(value: unknown, name: string): string[] | undefined {
  if (value === undefined || value === null) return undefined
  const isList = Array.isArray(value) && value.every((one) => typeof one === 'string')
  if (!isList) throw invalidRequest(`${name} must be a list of strings`)
  return value
}

function readFormat(value: unknown): RealtimeFormat {
  const { type, rate } = asFields(value)
  const name = typeof value === 'string' ? value : type
  const format = typeof name === 'string' ? formatNames[name] : undefined
  if (!format) throw invalidRequest('format must be audio/pcm, audio/pcmu or audio/pcma')
  if (format === 'pcm16' && rate !== undefined && rate !== 24_000) {
    throw invalidRequest('rate must be 24000')
  }
  return format
}

/** Returns the silence in milliseconds that ends a turn; null when the client ends turns itself. */
export function silenceOf({
  silenceMs,
  model = '',
}: Pick<RealtimeSettings, 'silenceMs' | 'model'>): number | null {
  if (silenceMs !== undefined) return silenceMs
  return MODELS_WITHOUT_TURNS.test(model) ? null : DEFAULT_SILENCE_MS
}

function readSilence(
  detection: unknown,
  current: RealtimeSettings['silenceMs'],
): RealtimeSettings['silenceMs'] {
  if (detection === undefined) return current
  if (detection === null) return null
  const { type, silence_duration_ms: silence } = asFields(detection)
  if (type !== undefined && type !== 'server_vad' && type !== 'semantic_vad') {
    throw invalidRequest('turn_detection.type must be server_vad or semantic_vad')
  }
  if (silence === undefined || silence === null) return current ?? DEFAULT_SILENCE_MS
  if (typeof silence !== 'number') {
    throw invalidRequest('turn_detection.silence_duration_ms must be a number')
  }
  return Math.min(MAX_SILENCE_MS, Math.max(MIN_SILENCE_MS, silence))
}

/** Seconds after which a turn always ends. */
const MAX_TURN_SECONDS = 30

/** Returns the request that opens a live session with these settings. */
export function toLiveSessionRequest(settings: RealtimeSettings) {
  const { format, model, languages } = settings
  const vocabulary = vocabularySettings(settings)
  const audio = {
    // Clients send 24 kHz, which `createRateDoubler` doubles.
    pcm16: { encoding: 'wav/pcm', bit_depth: 16, sample_rate: 48_000 },
    g711_ulaw: { encoding: 'wav/ulaw', bit_depth: 8, sample_rate: 8000 },
    g711_alaw: { encoding: 'wav/alaw', bit_depth: 8, sample_rate: 8000 },
  }
  return {
    ...audio[format],
    // The names of OpenAI's models stand for the default model.
    ...(model !== undefined && !isOpenAiModel(model) && { model }),
    ...languageSettings(languages),
    ...('custom_vocabulary' in vocabulary && { realtime_processing: vocabulary }),
    endpointing: (silenceOf(settings) ?? DEFAULT_SILENCE_MS) / 1000,
    maximum_duration_without_endpointing: MAX_TURN_SECONDS,
    messages_config: {
      receive_partial_transcripts: true,
      receive_final_transcripts: true,
      receive_speech_events: true,
      receive_pre_processing_events: false,
      receive_realtime_processing_events: false,
      receive_post_processing_events: false,
      receive_acknowledgments: false,
      receive_errors: true,
      receive_lifecycle_events: true,
    },
  }
}

/** Describes a session to its client, in the shape of its version of the API. */
export function describeSession(id: string, settings: RealtimeSettings, version: RealtimeVersion) {
  const { format, model = null, languages, keywords, prompt, logprobs } = settings
  const transcription = {
    model,
    ...(languages.length > 0 &&
      (languages.length > 1 ? { languages } : { language: languages[0] })),
    ...(keywords.length > 0 && { keywords }),
    prompt,
  }
  const silenceMs = silenceOf(settings)
  const turnDetection =
    silenceMs === null ? null : { type: 'server_vad', silence_duration_ms: silenceMs }
  const include = logprobs ? ['item.input_audio_transcription.logprobs'] : null
  if (version === 'beta') {
    return {
      id,
      object: 'realtime.transcription_session',
      input_audio_format: format,
      input_audio_transcription: transcription,
      turn_detection: turnDetection,
      include,
    }
  }
  const types = { pcm16: 'audio/pcm', g711_ulaw: 'audio/pcmu', g711_alaw: 'audio/pcma' }
  const input = {
    format: { type: types[format], ...(format === 'pcm16' && { rate: 24_000 }) },
    transcription,
    turn_detection: turnDetection,
    noise_reduction: null,
  }
  return {
    id,
    object: 'realtime.transcription_session',
    type: 'transcription',
    audio: { input },
    include,
  }
}

function asFields(value: unknown): SessionFields {
  return typeof value === 'object' && value !== null ? (value as SessionFields) : {}
}

/** Returns the error of a request with a problem. */
export function invalidRequest(problem: string): AppError {
  return new AppError('request_invalid', undefined, { validationErrors: [problem] })
}
