import { AppError } from '../../../errors.ts'
import { vocabularyFromPrompt } from '../prompt-vocabulary.ts'
import { isForeignModel } from '../request.ts'

/** The names that a client expects: `ga` since August 2025, `beta` before. */
export type RealtimeVersion = 'ga' | 'beta'

/** The audio that a client sends. */
export type RealtimeFormat = 'pcm16' | 'g711_ulaw' | 'g711_alaw'

/** The settings of a client that have a meaning here. */
export type RealtimeSettings = {
  format: RealtimeFormat
  model: string | undefined
  language: string | undefined
  prompt: string
  /** Milliseconds of silence that end a turn; null when the client ends turns itself. */
  silenceMs: number | null
  logprobs: boolean
}

/** The default. OpenAI's own default of 200 ms splits sentences. */
const SILENCE_MS = 500
const [MIN_SILENCE_MS, MAX_SILENCE_MS] = [10, 10_000]

/** The default settings. */
export const defaultSettings: RealtimeSettings = {
  ...{ format: 'pcm16', model: undefined, language: undefined, prompt: '' },
  ...{ silenceMs: SILENCE_MS, logprobs: false },
}

type Fields = Record<string, unknown>

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
export function updateSettings(before: RealtimeSettings, session: unknown): RealtimeSettings {
  const sessionFields = asFields(session)
  const input = asFields(asFields(sessionFields.audio).input)
  const isFlat = sessionFields.audio === undefined
  const transcription = isFlat ? sessionFields.input_audio_transcription : input.transcription
  const { model, language, prompt } = asFields(transcription)
  const detection = isFlat ? sessionFields.turn_detection : input.turn_detection
  const format = isFlat ? sessionFields.input_audio_format : input.format
  return {
    format: format === undefined ? before.format : readFormat(format),
    model: readText(model, 'model') === undefined ? before.model : ownModel(String(model)),
    language: readText(language, 'language') ?? before.language,
    prompt: readText(prompt, 'prompt') ?? before.prompt,
    silenceMs: readSilence(detection, before.silenceMs),
    logprobs: Array.isArray(sessionFields.include)
      ? sessionFields.include.includes('item.input_audio_transcription.logprobs')
      : before.logprobs,
  }
}

function readText(value: unknown, name: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw invalidRequest(`${name} must be a string`)
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

function readSilence(detection: unknown, before: number | null): number | null {
  if (detection === undefined) return before
  if (detection === null) return null
  const { type, silence_duration_ms: silence } = asFields(detection)
  if (type !== undefined && type !== 'server_vad' && type !== 'semantic_vad') {
    throw invalidRequest('turn_detection.type must be server_vad or semantic_vad')
  }
  if (silence === undefined || silence === null) return before ?? SILENCE_MS
  if (typeof silence !== 'number') {
    throw invalidRequest('turn_detection.silence_duration_ms must be a number')
  }
  return Math.min(MAX_SILENCE_MS, Math.max(MIN_SILENCE_MS, silence))
}

function ownModel(name: string): string | undefined {
  return isForeignModel(name) ? undefined : name
}

/** Seconds after which a turn always ends. */
const MAX_TURN_SECONDS = 30

/** Returns the body of a live session with these settings. */
export function toLiveBody({ format, model, language, prompt, silenceMs }: RealtimeSettings) {
  const vocabulary = vocabularyFromPrompt(prompt)
  const audio = {
    pcm16: { encoding: 'wav/pcm', bit_depth: 16, sample_rate: 48_000 },
    g711_ulaw: { encoding: 'wav/ulaw', bit_depth: 8, sample_rate: 8000 },
    g711_alaw: { encoding: 'wav/alaw', bit_depth: 8, sample_rate: 8000 },
  }
  return {
    ...audio[format],
    ...(model !== undefined && { model }),
    ...(language && { language_config: { languages: [language.toLowerCase()] } }),
    ...(vocabulary.length > 0 && {
      realtime_processing: {
        custom_vocabulary: true,
        custom_vocabulary_config: { vocabulary },
      },
    }),
    endpointing: (silenceMs ?? SILENCE_MS) / 1000,
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

/** Describes a session as its client sees it. */
export function viewSession(id: string, settings: RealtimeSettings, dialect: RealtimeVersion) {
  const { format, model = null, language, prompt, silenceMs, logprobs } = settings
  const transcription = { model, ...(language && { language }), prompt }
  const turnDetection =
    silenceMs === null ? null : { type: 'server_vad', silence_duration_ms: silenceMs }
  const include = logprobs ? ['item.input_audio_transcription.logprobs'] : null
  if (dialect === 'beta') {
    return {
      ...{ id, object: 'realtime.transcription_session' },
      ...{ input_audio_format: format, input_audio_transcription: transcription },
      ...{ turn_detection: turnDetection, include },
    }
  }
  const types = { pcm16: 'audio/pcm', g711_ulaw: 'audio/pcmu', g711_alaw: 'audio/pcma' }
  const input = {
    format: { type: types[format], ...(format === 'pcm16' && { rate: 24_000 }) },
    ...{ transcription, turn_detection: turnDetection, noise_reduction: null },
  }
  return {
    ...{ id, object: 'realtime.transcription_session', type: 'transcription' },
    ...{ audio: { input }, include },
  }
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

/** Returns the error of a request with a problem. */
export function invalidRequest(problem: string): AppError {
  return new AppError('request_invalid', undefined, { validationErrors: [problem] })
}
