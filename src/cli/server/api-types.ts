// Answers of the HTTP API, with the fields that the commands read.

/** One word in the form of the API: it includes the blank before it and its punctuation. */
export type ApiWord = { word: string; start: number; end: number; confidence: number }

/** One utterance in the form of the API. */
export type ApiUtterance = {
  start: number
  end: number
  channel: number
  speaker?: number
  words: ApiWord[]
  text: string
  language: string
}

/** The answer of an add-on; `results` is empty or null where it failed. */
export type ApiAddOn<T> = {
  success: boolean
  is_empty: boolean
  error: { message: string } | null
  results: T
}

/** A named entity in the form of the API. */
export type ApiEntity = { entity_type: string; text: string; start: number; end: number }

/** The sentiment of a sentence in the form of the API. */
export type ApiSentiment = { text: string; sentiment: string; emotion: string; start: number }

/**
 * The result of a finished job. For fields that the server may send as text or natively, its
 * settings select the form.
 */
export type ApiResult = {
  metadata: { audio_duration: number; number_of_distinct_channels: number }
  transcription: {
    full_transcript: string
    utterances: ApiUtterance[]
    subtitles?: { format: string; subtitles: string }[]
  }
  summarization?: ApiAddOn<string | null>
  named_entity_recognition?: ApiAddOn<ApiEntity[] | null>
  sentiment_analysis?: ApiAddOn<string | ApiSentiment[]>
  sentences?: ApiAddOn<(string | { sentence: string })[] | null>
}

/**
 * The part of a result that a retried add-on wrote: files of subtitles, none when they failed, or
 * its answer.
 */
export type ApiRetry = ApiAddOn<unknown> | { format: string; subtitles: string }[]

/** One job in the form of the API. */
export type ApiJob = {
  id: string
  status: 'queued' | 'processing' | 'done' | 'error'
  created_at: string
  error_code: number | null
  post_session_metadata: { failure?: { code: number; message: string } }
  file: { filename: string | null; source: string | null; audio_duration: number | null } | null
  result: ApiResult | null
}

/** One page of jobs. */
export type JobList = { items: ApiJob[]; next: string | null }

/** The progress of a job. */
export type ProgressView = {
  status: ApiJob['status']
  stage: string | null
  fraction: number | null
  seconds_left: number | null
}
