import type { RecognitionRequest } from '../../asr/model-selection/recognition-request.ts'
import type { SpeechEngine } from '../../asr/speech-engine.ts'
import { AppError } from '../../errors.ts'

/** If the end of a pull cannot be estimated. */
const DEFAULT_WAIT_SECONDS = 30
const MAX_WAIT_SECONDS = 300

/**
 * Throws `language_not_installed` when no installed model knows the languages of a session. Where
 * models are installed by themselves, that begins, and the error tells when to ask again: a client
 * that speaks waits for no download.
 */
export function requireModel(speech: SpeechEngine, request: RecognitionRequest): void {
  const { installer } = speech
  const missing = installer?.findMissing(request)
  if (!installer || !missing) return void speech.selectModels(request)
  const { model, progress, failure } = missing
  const refuse = (detail: string, retryAfter: number) => {
    return new AppError('language_not_installed', detail, { retryAfter })
  }
  if (failure) throw refuse(failure.message, MAX_WAIT_SECONDS)
  const { signal } = new AbortController()
  // Jobs and later sessions see how it ends.
  if (!progress) installer.install(missing, { signal }).catch(() => {})
  const percent = Math.floor(100 * (progress?.fraction ?? 0))
  const languages = request.languages.join(', ')
  const state = `${model.id} for ${languages} is being installed (${percent} %), ask again later`
  throw refuse(state, Math.min(MAX_WAIT_SECONDS, progress?.secondsLeft ?? DEFAULT_WAIT_SECONDS))
}
