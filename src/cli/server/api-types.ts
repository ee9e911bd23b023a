// Answers of the HTTP API, as far as the commands read them.

/** One word as served: it carries the blank before it and its punctuation. */
export type ApiWord = { word: string; start: number; end: number; confidence: number }

/** One utterance as served. */
export type ApiUtterance = {
  start: number
  end: number
  channel: number
  speaker?: number
  words: ApiWord[]
  text: string
  language: string
}

/** What an add-on answers; `results` is empty or null where it failed. */
export type ApiAddOn<T> = {
  success: boolean
  is_empty: boolean
  error: { message: string } | null
  results: T
}

/** A named entity as served. */
export type ApiEntity = { entity_type: string; text: string; start: number; end: number }

/** How a sentence sounds, as served. */
export type ApiSentiment = { text: string; sentiment: string; emotion: string; start: number }

/** The result of a job that is done. What a server may send as text or as itself, it is told to by its settings. */
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

/** What stands in a result for an add-on that was made again: files of subtitles, none when they failed, or its answer. */
export type ApiRetry = ApiAddOn<unknown> | { format: string; subtitles: string }[]

/** One job as served. */
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

/** How far a job has come. */
export type ProgressView = {
  status: ApiJob['status']
  stage: string | null
  fraction: number | null
  seconds_left: number | null
}
