import type { Config } from '../config/config.ts'
import { ServiceError } from '../language-services/service-error.ts'
import type { Log } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { Db } from '../storage/database/db.ts'
import type { AddOnError } from '../text/result/steps/envelope.ts'
import { nameConsistency } from '../text/service-add-ons/name-consistency.ts'
import type { Services } from '../text/service-add-ons/service-add-on.ts'
import { serviceAddOns } from '../text/service-add-ons/service-add-ons.ts'
import { openLanguageModel } from './language-model.ts'
import { canTranslateAudio, type SpeechTranslator, translateSpeech } from './speech-translator.ts'
import { openTokenQuota } from './token-quota.ts'
import { openTranslator, type Translator } from './translator.ts'

/** The language services of a server; the owner closes them. */
export type OpenLanguageServices = Services & { close(): Promise<void> }

/**
 * Opens the services that are configured. A language model serves all requests. Without one, a
 * recognition model that translates serves translations of recordings into English, and Apertium
 * all other translations. A request that no service supports returns an error that names what is
 * missing.
 */
export async function openLanguageServices(
  config: Pick<Config, 'llm' | 'models' | 'apertium' | 'jobs'>,
  deps: { log: Log; metrics: Metrics; speech: SpeechTranslator; db: Pick<Db, 'sql'> },
): Promise<OpenLanguageServices> {
  const { speech, db } = deps
  const quota = openTokenQuota(db, config.jobs.maxTokensPerMonth)
  const model = openLanguageModel(config, { ...deps, quota })
  const translator = model ? undefined : await openApertium(config, deps)
  return {
    get addOns() {
      if (model) return Object.fromEntries(modelAddOns.map((name) => [name, 'all' as const]))
      const sources = [...speech.translatedLanguages, ...(translator?.sources() ?? [])]
      return sources.length > 0 ? { translation: [...new Set(sources)] } : {}
    },
    get translators() {
      if (model) return [{ ...everyPair, model: config.llm!.embedded ?? config.llm!.model }]
      const fromSpeech = speech.translatedLanguages.filter((language) => language !== 'en')
      const whisper = { provider: 'whisper' as const, model: null, sessions: false }
      const apertium = { provider: 'apertium' as const, model: null, sessions: true }
      return [
        ...(fromSpeech.length > 0
          ? [{ ...whisper, pairs: fromSpeech.map((from) => `${from}-en`) }]
          : []),
        ...(translator ? [{ ...apertium, pairs: translator.pairs() }] : []),
      ]
    },
    async call(request, options) {
      if (model) return model.call(request, options)
      const { task, target, texts } = request as typeof request & { texts?: unknown[] }
      if (task !== 'translation') return { error: serviceMissing(`${task}`) }
      if (canTranslateAudio(speech, request, options))
        return translateSpeech(speech, request, options)
      // Without words there is nothing to translate, even in a redacted recording.
      if (texts?.length === 0 && target === 'en' && speech.translatedLanguages.length > 0)
        return { texts: [] }
      return translator?.translate(request, options) ?? { error: noTranslator(`${target}`) }
    },
    async close() {
      await model?.close()
    },
  }
}

/** The add-ons that need a language model or improve with one. */
const modelAddOns = [...serviceAddOns, nameConsistency].map(({ name }) => name)

const everyPair = { provider: 'language model' as const, pairs: null, sessions: true }

/**
 * Opens Apertium. If it does not work, the server starts without it, because other work does not
 * need it.
 */
async function openApertium(
  { apertium }: Pick<Config, 'apertium'>,
  { log }: { log: Log },
): Promise<Translator | undefined> {
  if (apertium === undefined) return undefined
  try {
    return await openTranslator(apertium, noPair)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    log.error({ problem: error.message }, 'STENO_APERTIUM does not name a working translator')
    return undefined
  }
}

const LANGUAGE_MODEL_HINT = 'it needs a language model (STENO_LLM_URL)'
/** Whisper translates audio only: not sessions, redacted recordings or retried add-ons. */
const WHISPER_HINT =
  ', or for recordings that are not redacted a multilingual Whisper model (steno models pull whisper-small)'

function noTranslator(target: string): AddOnError {
  const needs = `${LANGUAGE_MODEL_HINT}${whisperHintFor(target)}, or Apertium (STENO_APERTIUM)`
  return serviceMissing(`translation into ${target}`, needs)
}

function noPair(from: string, to: string): AddOnError {
  const needs = `${LANGUAGE_MODEL_HINT}${whisperHintFor(to)}, or the pair ${from}-${to} of Apertium`
  return serviceMissing(`translation from ${from} into ${to}`, needs)
}

function whisperHintFor(target: string): string {
  return target === 'en' ? WHISPER_HINT : ''
}

function serviceMissing(service: string, needs = LANGUAGE_MODEL_HINT): AddOnError {
  const message = `${service} is not available on this server: ${needs}`
  return { status_code: 501, exception: 'NotConfigured', message }
}
