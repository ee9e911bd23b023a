import { bareEnvironment } from '../../../audio/decoder/sandbox/bare-environment.ts'
import type { Config } from '../../../config/config.ts'
import type { LlmConfig } from '../../../config/llm.ts'
import { createLog } from '../../../observability/log.ts'
import type { CheckResult } from './checks.ts'

/** Timeout in seconds for a few words of a language model, which may have to be loaded first. */
const ANSWER_SECONDS = 120
/** Timeout for the list of models of a server that has just responded. */
const LIST_MS = 10_000

/**
 * Checks the language services: whether the language model responds, which recognition models
 * translate into English, and whether Apertium runs. Returns a single finding if none is
 * configured.
 */
export async function checkLanguageServices(
  config: Config,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  const model = await checkLanguageModel(config, signal)
  const otherChecks = [await checkSpeechTranslation(config), await checkApertium(config, signal)]
  const results = [model, ...otherChecks].flatMap((result) => result ?? [])
  if (results.length > 0) return results
  const needs = 'a language model (STENO_LLM_URL), a multilingual Whisper model or Apertium'
  return [{ state: 'ok', text: `translation: nothing is set up; it needs ${needs}` }]
}

/** Requests a word, to check the address, the key and the name of the model. */
async function checkLanguageModel(
  config: Config,
  signal: AbortSignal,
): Promise<CheckResult | undefined> {
  const { llm } = config
  if (!llm) return undefined
  const { openChatModel } = await import('../../../app/language-model.ts')
  const timeout = Math.min(llm.timeout, ANSWER_SECONDS)
  const llmOptions = { ...llm, timeout, answerTimeout: timeout }
  const chat = openChatModel({ ...config, llm: llmOptions }, createLog('silent'))
  const modelName =
    llm.url === undefined ? llm.embedded! : `${llm.model} at ${new URL(llm.url).host}`
  try {
    await chat.complete({ system: 'Answer briefly.', user: 'Say hello.', maxTokens: 8, signal })
    const text = `language model: ${modelName} answers`
    const served = await servedContext(llm, signal)
    if (served === undefined || served >= llm.contextTokens) return { state: 'ok', text }
    const shortfall = `but takes ${served} tokens, fewer than the ${llm.contextTokens} of the settings`
    const remedy = `set STENO_LLM_CONTEXT_TOKENS=${served}, or serve the model with a larger context`
    return { state: 'warn', text: `${text}, ${shortfall}`, remedy }
  } catch (error) {
    signal.throwIfAborted()
    const text = `language model: ${modelName}: ${(error as Error).message}`
    return { state: 'fail', text, remedy: 'see the STENO_LLM_ settings' }
  } finally {
    await chat.close()
  }
}

/**
 * Returns the context length of a model in tokens, as llama.cpp and vLLM report it; undefined if
 * unknown.
 */
async function servedContext(
  { url, model, apiKey }: LlmConfig,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (url === undefined) return undefined
  const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(LIST_MS)])
  try {
    const response = await fetch(`${url}/models`, { headers, redirect: 'error', signal: inTime })
    const { data } = (await response.json()) as { data: ServedModel[] }
    const served = data.find(({ id }) => id === model) ?? (data.length === 1 ? data[0] : undefined)
    const tokens = served?.max_model_len ?? served?.meta?.n_ctx
    return Number.isSafeInteger(tokens) && tokens! > 0 ? tokens : undefined
  } catch {
    // Few servers report the context length, and some have no list of models.
    signal.throwIfAborted()
    return undefined
  }
}

/** A model of `GET /v1/models` with what vLLM and llama.cpp add. */
type ServedModel = { id: string; max_model_len?: number; meta?: { n_ctx?: number } | null }

async function checkSpeechTranslation({
  models: { folder },
}: Config): Promise<CheckResult | undefined> {
  const { readStoredModels } = await import('../../../models/install/installed-models.ts')
  const { describeStored } = await import('../../../asr/engines/stored-recognizers.ts')
  const matchingModels = readStoredModels(folder).filter((model) => {
    return describeStored(model)?.capabilities.translates
  })
  if (matchingModels.length === 0) return undefined
  const names = matchingModels.map(({ id }) => id).join(', ')
  return { state: 'ok', text: `translation of recordings into English: ${names}` }
}

async function checkApertium(
  { apertium: file }: Config,
  signal: AbortSignal,
): Promise<CheckResult | undefined> {
  if (file === undefined) return undefined
  const { createApertium } = await import('../../../language-services/apertium/apertium.ts')
  try {
    const pairs = [...(await createApertium(file, bareEnvironment()).pairs({ signal })).keys()]
    if (pairs.length > 0) return { state: 'ok', text: `Apertium: ${pairs.toSorted().join(', ')}` }
    const remedy = 'install pairs of languages, such as apertium-eng-spa'
    return { state: 'warn', text: 'Apertium: it has no pair of languages', remedy }
  } catch (error) {
    signal.throwIfAborted()
    const remedy = 'set STENO_APERTIUM to the path of the program'
    return { state: 'fail', text: (error as Error).message, remedy }
  }
}
