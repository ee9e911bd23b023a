import { AppError } from '../../errors.ts'
import type { OpenAiFormat } from '../../text/formats/openai.ts'
import { languageSettings, vocabularySettings } from './hints.ts'

/** The values of each field of a form, by its name without the brackets of lists. */
export type TranscriptionFormFields = ReadonlyMap<string, readonly string[]>

const formats = ['json', 'text', 'srt', 'verbose_json', 'vtt', 'diarized_json'] as const

/** What a request asks for: the job to create and the form of its response. */
export type TranscriptionRequest = {
  /** The body of a creation, without the recording. */
  creation: Record<string, unknown>
  format: 'openai' | 'srt' | 'vtt'
  form: OpenAiFormat
}

/**
 * OpenAI's own models, later ones too, which clients of its API send by default. Here they mean the
 * default model.
 */
const OPENAI_MODEL =
  /^(whisper-1|gpt-([\w.]+-)*(transcribe|whisper)(-diarize)?(-\d{4}-\d{2}-\d{2})?)$/
const DIARIZING_MODEL = /-diarize(-\d{4}-\d{2}-\d{2})?$/

/** OpenAI's own models, without the dates that their names may end with. */
export const openAiModels = [
  ...['whisper-1', 'gpt-transcribe', 'gpt-live-transcribe', 'gpt-realtime-whisper'],
  ...['gpt-4o-transcribe', 'gpt-4o-mini-transcribe', 'gpt-4o-transcribe-diarize'],
] as const

/** Returns whether a name is one of OpenAI's own models. */
export function isOpenAiModel(name: string): boolean {
  return OPENAI_MODEL.test(name)
}

/**
 * Reads the fields of OpenAI's transcription API. What has no meaning here (`temperature`,
 * `chunking_strategy`, known speakers) is ignored, as are unknown fields. Throws `request_invalid`
 * with a line per problem.
 */
export function readTranscriptionRequest(
  fields: TranscriptionFormFields,
  { task, models }: { task: OpenAiFormat['task']; models: readonly string[] },
): TranscriptionRequest {
  const problems: string[] = []
  const lastValue = (name: string) => fields.get(name)?.at(-1)?.trim() || undefined
  const model = lastValue('model')
  const isOpenAiName = model !== undefined && isOpenAiModel(model)
  if (model !== undefined && !isOpenAiName && !models.includes(model)) {
    problems.push(`model must be one of ${[...openAiModels, ...models].join(', ')}`)
  }
  const formatName = lastValue('response_format') ?? 'json'
  const format = formats.find((name) => name === formatName)
  if (!format) problems.push(`response_format must be one of ${formats.join(', ')}`)
  const granularities = fields.get('timestamp_granularities') ?? []
  if (granularities.some((name) => name !== 'word' && name !== 'segment')) {
    problems.push('timestamp_granularities must be word or segment')
  }
  const stream = lastValue('stream') ?? 'false'
  if (!['true', 'false'].includes(stream)) problems.push('stream must be true or false')
  if (problems.length > 0) {
    throw new AppError('request_invalid', undefined, { validationErrors: problems })
  }
  const isFile = format === 'srt' || format === 'vtt'
  const isDiarized = format === 'diarized_json' || DIARIZING_MODEL.test(model ?? '')
  const { languages = [], language = [], keywords = [] } = Object.fromEntries(fields)
  const vocabulary = vocabularySettings({ keywords, prompt: lastValue('prompt') })
  return {
    creation: {
      ...(model !== undefined && !isOpenAiName && { model }),
      ...languageSettings(languages.length > 0 ? languages : language.slice(-1)),
      ...(isDiarized && { diarization: true }),
      ...(task === 'translate' && {
        translation: true,
        translation_config: { target_languages: ['en'], model: 'enhanced' },
      }),
      ...vocabulary,
    },
    format: isFile ? format : 'openai',
    form: {
      shape: isFile ? 'json' : format!,
      task,
      words: granularities.includes('word'),
      segments: granularities.length === 0 || granularities.includes('segment'),
      logprobs: fields.get('include')?.includes('logprobs') ?? false,
      stream: stream === 'true' && !isFile && format !== 'verbose_json',
    },
  }
}
