import type {
  ApiAddOnError,
  ApiPreRecordedResult,
  ApiSentenceSentiment,
} from '../client/api-types.ts'
import { formatTable } from '../terminal/table.ts'

/** The response of an add-on; `results` is empty or null if it failed. */
export type AddOnResponse<T> = {
  success: boolean
  is_empty: boolean
  exec_time: number
  error: ApiAddOnError | null
  results: T
}

/**
 * Formats the results of add-ons as text below the transcript: a heading and lines for each
 * requested one.
 */
export function formatAddOns(result: ApiPreRecordedResult): string {
  const { summarization, chapters, named_entity_recognition, sentiment_analysis } = result
  return [
    ...formatTranslations(result),
    section('Summary', summarization, (summary) => `${summary}\n`),
    section('Chapters', chapters, (results) => {
      return formatTable(
        ['start', 'chapter'],
        (results ?? []).map(({ start, headline }) => [formatTime(start), headline]),
      )
    }),
    ...formatResponses(result),
    section('Entities', named_entity_recognition, (entities) => {
      const rows = (entities ?? []).map(({ start, entity_type, text }) => {
        return [formatTime(start), entity_type, text]
      })
      return formatTable(['start', 'type', 'text'], rows)
    }),
    section('Sentiment', sentiment_analysis, (results) => {
      const sentences =
        typeof results === 'string' ? (JSON.parse(results) as ApiSentenceSentiment[]) : results
      const rows = (sentences ?? []).map(({ start, sentiment, emotion, text }) => {
        return [formatTime(start), sentiment, emotion, text]
      })
      return formatTable(['start', 'sentiment', 'emotion', 'sentence'], rows)
    }),
  ].join('')
}

function formatTranslations({ translation }: ApiPreRecordedResult): string[] {
  return (translation?.results ?? []).flatMap(({ error, languages: [language], utterances }) => {
    if (error) return []
    const lines = utterances.map(({ text }) => `${text.trim()}\n`).join('')
    return [`\nTranslation (${language}):\n${lines || 'none\n'}`]
  })
}

function formatResponses({ audio_to_llm: responses }: ApiPreRecordedResult): string[] {
  return (responses?.results ?? []).flatMap(({ results }) => {
    return results?.response ? [`\n${results.prompt}\n${results.response}\n`] : []
  })
}

/** Formats one add-on; returns an empty string for a failed one, which is reported as a failure. */
function section<T>(
  heading: string,
  addOn: AddOnResponse<T> | undefined,
  format: (results: T) => string,
): string {
  if (!addOn?.success) return ''
  return `\n${heading}:\n${addOn.is_empty ? 'none\n' : format(addOn.results)}`
}

const LEFT_OUT = {
  summarization: 'the summary',
  chapters: 'the chapters',
  audio_to_llm: 'the answers',
  named_entity_recognition: 'the entities',
  sentiment_analysis: 'the sentiments',
  translation: 'the translation',
} as const satisfies { [name in keyof ApiPreRecordedResult]?: string }

/**
 * Returns a note about the successful add-ons that a format cannot contain; none for text and JSON,
 * which contain everything. `isTranslated` means that translations are in separate files.
 */
export function describeLeftOut(
  result: ApiPreRecordedResult,
  { format, isTranslated }: { format: string; isTranslated: boolean },
): string | undefined {
  if (format === 'txt' || format === 'json') return undefined
  const names = Object.keys(LEFT_OUT) as (keyof typeof LEFT_OUT)[]
  const omitted = names.filter((name) => {
    return result[name]?.success && !(isTranslated && name === 'translation')
  })
  if (omitted.length === 0) return undefined
  const list = omitted.map((name) => LEFT_OUT[name]).join(', ')
  return `${format} leaves out ${list}: use --format txt or json`
}

/** Returns one sentence for each add-on of a result that failed, with the reason. */
export function describeFailures(result: ApiPreRecordedResult): string[] {
  const sections = Object.entries(result).flatMap(([name, part]) => {
    const { success, error } = part as Partial<AddOnResponse<unknown>>
    return success === false ? [describeFailure(name, error)] : []
  })
  const targets = (result.translation?.results ?? []).flatMap(({ error, languages }) => {
    return error ? [describeFailure(`the translation into ${languages[0]}`, error)] : []
  })
  const prompts = (result.audio_to_llm?.results ?? []).flatMap(({ error, results }) => {
    return error ? [describeFailure(`the answer to "${results?.prompt}"`, error)] : []
  })
  return [...sections, ...targets, ...prompts]
}

/** Add-ons that cannot be retried: they need the audio, or change the words. */
const NOT_RETRIED = new Set(['diarization', 'name_consistency'])

/** Returns the add-ons of a result that failed, completely or in part, and can be retried. */
export function retriableAddOns(result: ApiPreRecordedResult): string[] {
  const failed = Object.entries(result).flatMap(([name, part]) => {
    const { success, results } = part as Partial<AddOnResponse<unknown>>
    const parts = Array.isArray(results) ? (results as { error?: unknown }[]) : []
    return success === false || parts.some(({ error }) => error) ? [name] : []
  })
  return failed.filter((name) => !NOT_RETRIED.has(name))
}

function describeFailure(subject: string, error: ApiAddOnError | null | undefined): string {
  return `${subject} failed: ${error?.message ?? 'no reason given'}`
}

/** Formats seconds as `1:02:03.4`; the hours only if there are some. */
function formatTime(seconds: number): string {
  const tenths = Math.round(seconds * 10)
  const minutes = Math.floor(tenths / 600)
  const secondsText = ((tenths % 600) / 10).toFixed(1).padStart(4, '0')
  const hours = Math.floor(minutes / 60)
  const full = `${String(minutes % 60).padStart(hours > 0 ? 2 : 1, '0')}:${secondsText}`
  return hours > 0 ? `${hours}:${full}` : full
}
