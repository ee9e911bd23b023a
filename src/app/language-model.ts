import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bareEnvironment } from '../audio/decoder/sandbox/bare-environment.ts'
import { secondsSince } from '../clock.ts'
import type { Config } from '../config/config.ts'
import type { LlmConfig } from '../config/llm.ts'
import type { AskOptions } from '../language-services/llm/ask.ts'
import {
  addUsage,
  type ChatModel,
  type ChatRequest,
  type CompletionUsage,
  createChatClient,
} from '../language-services/llm/chat-client.ts'
import { createEmbeddedModel } from '../language-services/llm/embedded/embedded-model.ts'
import { type ModerationTask, moderateSentences } from '../language-services/llm/moderate.ts'
import {
  describeChapter,
  extractData,
  runPrompt,
  type SummaryStyle,
  summarizeTranscript,
} from '../language-services/llm/tasks.ts'
import { estimateTokens } from '../language-services/llm/token-estimate.ts'
import { translateTexts } from '../language-services/llm/translate.ts'
import { type NameGroup, unifyNames } from '../language-services/llm/unify-names.ts'
import { ServiceError } from '../language-services/service-error.ts'
import { readStoredModels } from '../models/install/installed-models.ts'
import { createServiceClient } from '../net/service-client.ts'
import type { Log } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { ServiceRequest, Services } from '../text/service-add-ons/service-add-on.ts'
import { roundTo } from '../transcript/rounding.ts'
import { createFairSemaphore } from '../workers/fair-semaphore.ts'
import type { TokenQuota } from './token-quota.ts'

/** Maximum waiting requests of one account; a job has four at a time. */
const MAX_WAITING = 10_000

type Setup = Pick<LlmConfig, 'allowedModels' | 'concurrency'> & {
  metrics: Metrics
  quota: TokenQuota
}

/** Answers the requests of add-ons with a language model; the owner closes it. */
export type LanguageModel = Pick<Services, 'call'> & { close(): Promise<void> }

/** Opens the language model of a server; undefined when there is none. */
export function openLanguageModel(
  { llm, models }: Pick<Config, 'llm' | 'models'>,
  { log, metrics, quota }: { log: Log; metrics: Metrics; quota: TokenQuota },
): LanguageModel | undefined {
  if (!llm) return undefined
  return serveModel(openChatModel({ llm, models }, log), { ...llm, metrics, quota })
}

/** Opens a provider: a server, or a model of this machine. */
export function openChatModel(
  { llm, models }: { llm: LlmConfig; models: Config['models'] },
  log: Log,
): ChatModel {
  const { url, embedded, apiKey } = llm
  if (url === undefined) return openEmbedded(embedded!, llm, models)
  const onRetry = (problem: string) => log.warn({ problem }, 'language model failed, retrying')
  return createChatClient({ ...llm, client: createServiceClient({ url, apiKey, onRetry }) })
}

/** Opens a model of this machine: one of the store, or a file. */
function openEmbedded(
  name: string,
  { contextTokens, timeout, answerTimeout }: LlmConfig,
  { folder, idleSeconds, device }: Config['models'],
): ChatModel {
  const isFile = name.endsWith('.gguf')
  return createEmbeddedModel({
    findFile() {
      if (isFile) return existsSync(name) ? resolve(name) : undefined
      const stored = readStoredModels(folder).find((model) => model.id === name)
      return stored?.kind === 'language-model' ? join(stored.folder, 'model.gguf') : undefined
    },
    missingMessage: isFile
      ? 'the file of the language model is missing'
      : `the language model ${name} is not installed: 'steno models pull ${name}' installs it`,
    contextTokens,
    timeout,
    answerTimeout,
    idleSeconds,
    usesGpu: device !== 'cpu',
    env: bareEnvironment(),
  })
}

/** Serves the requests of add-ons with a model; `concurrency` at a time, the accounts in turn. */
function serveModel(
  chat: ChatModel,
  { allowedModels, concurrency, metrics, quota }: Setup,
): LanguageModel {
  // One slot stays free for other accounts, however many requests an account has.
  const perAccount = Math.max(1, concurrency - 1)
  const inTurn = createFairSemaphore({ total: concurrency, perAccount, maxWaiting: MAX_WAITING })
  const complete = measuredCompletion(chat, metrics)
  return {
    async call(request, options): Promise<unknown> {
      const { account, job, signal, memoize } = options
      const usage: CompletionUsage = { requests: 0, prompt_tokens: 0, completion_tokens: 0 }
      const model = allowedModels.find((name) => name === request.model)
      const countedModel: ChatModel = {
        ...chat,
        complete(request) {
          const ask = async () => {
            const response = await complete({ ...request, model, cacheKey: job })
            addUsage(usage, response.usage)
            return response
          }
          const spend = () => quota.spend({ account, job }, estimateRequest(request), ask)
          return inTurn(spend, { account, signal })
        },
      }
      const memoizeFor: AskOptions['memoize'] = (keyParts, request) => {
        return memoize(model === undefined ? keyParts : { ...keyParts, model }, request)
      }
      const startedAt = performance.now()
      const elapsedSeconds = () => roundTo(secondsSince(startedAt), 6)
      try {
        const response = await perform(request, {
          model: countedModel,
          memoize: memoizeFor,
          signal,
        })
        return { ...response, seconds: elapsedSeconds() }
      } catch (error) {
        // A failed request fails its prompt or target only.
        if (!(error instanceof ServiceError)) throw error
        const { status: status_code, exception, message } = error
        const failed = { error: { status_code, exception, message }, seconds: elapsedSeconds() }
        // The tokens of a failed request count as well.
        return { ...failed, ...(usage.requests > 0 && { usage }) }
      }
    },
    close: () => chat.close(),
  }
}

/**
 * Estimates the tokens of a request without its response: few responses are as long as they may be.
 */
function estimateRequest({ system, user }: ChatRequest): number {
  return estimateTokens(system) + estimateTokens(user)
}

/** Counts the requests to a model, and the tokens of its responses. */
function measuredCompletion(chat: ChatModel, metrics: Metrics): ChatModel['complete'] {
  return async (request) => {
    const startedAt = performance.now()
    try {
      const response = await chat.complete(request)
      metrics.llmRequests.inc({ outcome: 'answered' })
      metrics.llmTokens.inc({ kind: 'prompt' }, response.usage.prompt_tokens)
      metrics.llmTokens.inc({ kind: 'completion' }, response.usage.completion_tokens)
      return response
    } catch (error) {
      if (error instanceof ServiceError) metrics.llmRequests.inc({ outcome: 'failed' })
      throw error
    } finally {
      metrics.llmSeconds.observe(secondsSince(startedAt))
    }
  }
}

/** The fields of the requests in `text/service-add-ons/`, by their task. */
type Fields = {
  prompt: { prompt: string; text: string }
  summary: { style: SummaryStyle; text: string }
  extraction: { classes: string[]; text: string }
  chapter: { text: string }
  moderation: ModerationTask
  names: { groups: NameGroup[] }
  translation: {
    target: string
    texts: string[]
    context: string
    before: string[]
    informal: boolean
    terms?: string[]
  }
}

function perform(request: ServiceRequest, options: AskOptions): Promise<object> {
  const fields = <T extends keyof Fields>() => request as unknown as Fields[T]
  switch (request.task as keyof Fields) {
    case 'prompt': {
      const { prompt, text: transcript } = fields<'prompt'>()
      return runPrompt({ prompt, transcript }, options)
    }
    case 'summary': {
      const { style, text: transcript } = fields<'summary'>()
      return summarizeTranscript({ style, transcript }, options)
    }
    case 'extraction': {
      const { classes, text: transcript } = fields<'extraction'>()
      return extractData({ classes, transcript }, options)
    }
    case 'chapter':
      return describeChapter({ transcript: fields<'chapter'>().text }, options)
    case 'moderation':
      return moderateSentences(fields<'moderation'>(), options)
    case 'names':
      return unifyNames(fields<'names'>(), options)
    case 'translation':
      return translateTexts(fields<'translation'>(), options)
    default:
      throw new TypeError('no such task of a language model')
  }
}
