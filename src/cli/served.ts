// Answers of the HTTP API, as far as the commands read them.

/** One word as served: it carries the blank before it and its punctuation. */
export type ServedWord = { word: string; start: number; end: number; confidence: number }

/** One utterance as served. */
export type ServedUtterance = {
  start: number
  end: number
  channel: number
  speaker?: number
  words: ServedWord[]
  text: string
  language: string
}

/** What an add-on answers; `results` is empty or null where it failed. */
export type ServedAddOn<T> = {
  success: boolean
  is_empty: boolean
  error: { message: string } | null
  results: T
}

/** A named entity as served. */
export type ServedEntity = { entity_type: string; text: string; start: number; end: number }

/** How a sentence sounds, as served. */
export type ServedSentiment = { text: string; sentiment: string; emotion: string; start: number }

/** The result of a job that is done. What a server may send as text or as itself, it is told to by its settings. */
export type ServedResult = {
  metadata: { audio_duration: number; number_of_distinct_channels: number }
  transcription: {
    full_transcript: string
    utterances: ServedUtterance[]
    subtitles?: { format: string; subtitles: string }[]
  }
  summarization?: ServedAddOn<string | null>
  named_entity_recognition?: ServedAddOn<ServedEntity[] | null>
  sentiment_analysis?: ServedAddOn<string | ServedSentiment[]>
  sentences?: ServedAddOn<(string | { sentence: string })[] | null>
}

/** What stands in a result for an add-on that was made again: files of subtitles, none when they failed, or its answer. */
export type ServedRetry = ServedAddOn<unknown> | { format: string; subtitles: string }[]

/** One job as served. */
export type ServedJob = {
  id: string
  status: 'queued' | 'processing' | 'done' | 'error'
  created_at: string
  error_code: number | null
  post_session_metadata: { failure?: { code: number; message: string } }
  file: { filename: string | null; source: string | null; audio_duration: number | null } | null
  result: ServedResult | null
}

/** One page of jobs. */
export type JobList = { items: ServedJob[]; next: string | null }

/** How far a job has come. */
export type ProgressView = {
  status: ServedJob['status']
  stage: string | null
  fraction: number | null
  seconds_left: number | null
}
