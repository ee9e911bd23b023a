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

/** The result of a job that is done. */
export type ServedResult = {
  metadata: { audio_duration: number; number_of_distinct_channels: number }
  transcription: { full_transcript: string; utterances: ServedUtterance[] }
}

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
