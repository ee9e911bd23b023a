import type { RecognitionRequest } from '../../asr/model-selection/recognition-request.ts'
import type { SpeechEngine } from '../../asr/speech-engine.ts'
import { AppError } from '../../errors.ts'

/** The `Retry-After` seconds if the end of an installation cannot be estimated. */
const DEFAULT_WAIT_SECONDS = 30
const MAX_WAIT_SECONDS = 300

/**
 * Throws `language_not_installed` when no installed model knows the languages of a session. If
 * models are installed on demand, starts the installation; the error then states when to retry,
 * since a live client does not wait for a download.
 */
export function requireModel(speech: SpeechEngine, request: RecognitionRequest): void {
  const { installer } = speech
  const missing = installer?.findMissing(request)
  if (!installer || !missing) return void speech.selectModels(request)
  const { model, progress, failure } = missing
  const refusal = (detail: string, retryAfter: number) => {
    return new AppError('language_not_installed', detail, { retryAfter })
  }
  if (failure) throw refusal(failure.message, MAX_WAIT_SECONDS)
  const { signal } = new AbortController()
  // The outcome is reported to jobs and later sessions.
  if (!progress) installer.install(missing, { signal }).catch(() => {})
  const percent = Math.floor(100 * (progress?.fraction ?? 0))
  const languages = request.languages.join(', ')
  const state = `${model.id} for ${languages} is being installed (${percent} %); try again later`
  throw refusal(state, Math.min(MAX_WAIT_SECONDS, progress?.secondsLeft ?? DEFAULT_WAIT_SECONDS))
}
