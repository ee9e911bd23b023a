import type { EnvReader } from './env-reader.ts'

/** The models of the API for which a remote engine may be chosen. */
const logicalModels = ['stt-1', 'stt-3', 'stt-fusion']

/** A server that recognizes speech, and speaks the transcription API of OpenAI. */
export type RemoteAsrConfig = {
  /** The address before `/audio/transcriptions`. */
  url: string
  /** The model that requests name. */
  model: string
  /** The bearer token; a secret. */
  apiKey: string | undefined
  /** The languages that it recognizes; empty = every language. */
  languages: string[]
  /** Seconds that one request may take. */
  timeout: number
  /** Maximum concurrent requests. */
  concurrency: number
  /** Which of stt-1, stt-3 and stt-fusion prefer it to models of this machine. */
  preferredBy: string[]
}

/** Reads the settings of the remote engine; undefined when there is none. */
export function readRemoteAsr(read: EnvReader, problems: string[]): RemoteAsrConfig | undefined {
  const url = read.serviceUrl('REMOTE_ASR_URL')
  const config = {
    model: read.text('REMOTE_ASR_MODEL', 'whisper-1'),
    apiKey: read.bearerToken('REMOTE_ASR_API_KEY'),
    languages: read.list('REMOTE_ASR_LANGUAGES', '').map((code) => code.toLowerCase()),
    timeout: read.integer('REMOTE_ASR_TIMEOUT_S', 60, { min: 1, max: 3600 }),
    concurrency: read.integer('REMOTE_ASR_CONCURRENCY', 4, { min: 1, max: 256 }),
    preferredBy: read.list('REMOTE_ASR_PREFERRED_BY', logicalModels.join(',')),
  }
  if (config.preferredBy.some((name) => name !== 'none' && !logicalModels.includes(name))) {
    const choices = logicalModels.join(', ')
    problems.push(`STENO_REMOTE_ASR_PREFERRED_BY must be some of ${choices}, or none`)
  }
  const dependentNames = ['REMOTE_ASR_MODEL', 'REMOTE_ASR_API_KEY', 'REMOTE_ASR_LANGUAGES']
  read.needs('REMOTE_ASR_URL', dependentNames)
  return url === undefined ? undefined : { url, ...config }
}
