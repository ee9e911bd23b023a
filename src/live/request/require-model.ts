import type { RecognitionRequest } from '../../asr/routing/recognition-request.ts'
import type { SpeechEngine } from '../../asr/speech-engine.ts'
import { AppError } from '../../errors.ts'

/** Where the end of a pull cannot be told. */
const USUAL_WAIT = 30
const LONGEST_WAIT = 300

/**
 * Throws `language_not_installed` when no installed model knows the languages of a session. Where
 * models are installed by themselves, that begins, and the error tells when to ask again: a client
 * that speaks waits for no download.
 */
export function requireModel(speech: SpeechEngine, request: RecognitionRequest): void {
  const { installer } = speech
  const missing = installer?.findMissing(request)
  if (!installer || !missing) return void speech.route(request)
  const { model, progress, failure } = missing
  const refuse = (detail: string, retryAfter: number) => {
    return new AppError('language_not_installed', detail, { retryAfter })
  }
  if (failure) throw refuse(failure.message, LONGEST_WAIT)
  const { signal } = new AbortController()
  // Jobs and later sessions see how it ends.
  if (!progress) installer.install(missing, { signal }).catch(() => {})
  const percent = Math.floor(100 * (progress?.fraction ?? 0))
  const languages = request.languages.join(', ')
  const state = `${model.id} for ${languages} is being installed (${percent} %), ask again later`
  throw refuse(state, Math.min(LONGEST_WAIT, progress?.secondsLeft ?? USUAL_WAIT))
}
