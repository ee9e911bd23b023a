import type { ServiceClient } from '../../net/service-client.ts'
import { ServiceError } from '../service-error.ts'
import { createResponseReader, type ProviderResponse } from './response-reader.ts'
import { estimateTokens } from './token-estimate.ts'

/** Tokens that responses took, as their provider counted them. */
export type CompletionUsage = { requests: number; prompt_tokens: number; completion_tokens: number }

/** A request to a model: its instructions, and the text that it works on. */
export type ChatRequest = {
  system: string
  user: string
  /** The JSON schema of the response. A provider that cannot enforce it gets no schema. */
  schema?: { name: string; schema: object }
  /** Maximum tokens of the response. */
  maxTokens: number
  /** The model to ask instead of the configured one. */
  model?: string | undefined
  /**
   * Requests with the same key, those of a job, may share the state that an embedded model computed
   * for the common beginning of their prompts. Other requests do not, so the time of a response
   * reveals nothing about them.
   */
  cacheKey?: string
  signal: AbortSignal
}

/** The text of a response. `isCut`: it reached `maxTokens` before its end. */
export type ChatResponse = { text: string; usage: CompletionUsage; isCut: boolean }

/** A provider of language models. */
export type ChatModel = {
  /** Rejects with `ServiceError` when there is no response. */
  complete(request: ChatRequest): Promise<ChatResponse>
  /** Tokens that a request and its response may take together. */
  readonly contextTokens: number
  close(): Promise<void>
}

/** Options of a provider with OpenAI's chat API, such as Ollama, vLLM or llama.cpp. */
export type ChatClientOptions = {
  client: ServiceClient
  model: string
  contextTokens: number
  /** Seconds until a response begins, and from each chunk of it to the next. */
  timeout: number
  /** Seconds that a whole response may take. */
  answerTimeout: number
}

/**
 * Attempts per request. A request is not retried once the provider may have processed, and billed,
 * it.
 */
const TRIES = 3

/**
 * Maximum characters per token of a response; a token has about four. Some providers ignore
 * `maxTokens`, and a longer response would cost unlimited tokens in further requests.
 */
const MAX_TOKEN_CHARS = 10

/** The optional features of a request. */
type RequestFeatures = { stream: boolean; usage: boolean; schema: boolean }

/**
 * The features that a provider supports for a model. `isKnown`: it answered a streaming request.
 * `reasons`: its reasoning took all tokens of a response.
 */
type SupportedFeatures = RequestFeatures & { isKnown: boolean; reasons: boolean }

/** Tokens for reasoning before a response, as far as the context has space for them. */
const REASONING_TOKENS = 4096

/**
 * Creates a client of `POST {url}/chat/completions`. Responses are generated at temperature 0, and
 * streamed if the provider supports it.
 */
export function createChatClient(options: ChatClientOptions): ChatModel {
  const { client, contextTokens } = options
  /** The supported features by model: a feature that was refused is not requested again. */
  const featuresByModel = new Map<string, SupportedFeatures>()
  return {
    contextTokens,
    async complete(request) {
      const model = request.model ?? options.model
      const supportedFeatures = featuresByModel.get(model) ?? {
        stream: true,
        usage: true,
        schema: true,
        isKnown: false,
        reasons: false,
      }
      const thoughts = thoughtTokens(request, contextTokens)
      const ask = (features: RequestFeatures, reasons: boolean) => {
        const maxTokens = request.maxTokens + (reasons ? thoughts : 0)
        return postChat({ ...request, model, maxTokens }, features, options)
      }
      let response = await ask(supportedFeatures, supportedFeatures.reasons)
      const fallbacks = wasRefused(response)
        ? fallbackFeatures(supportedFeatures, request, response.refusal)
        : []
      let features: RequestFeatures = supportedFeatures
      for (const fallback of fallbacks) {
        if (!wasRefused(response)) break
        features = fallback
        response = await ask(features, supportedFeatures.reasons)
      }
      if ('refusal' in response) {
        if (isTooLong(response)) {
          const message = 'the text is too long for the context of the language model'
          throw new ServiceError(message, { status: 413 })
        }
        throw new ServiceError(`the language model refused the request with ${response.status}`)
      }
      const isKnown = supportedFeatures.isKnown || features.stream
      const reasons = supportedFeatures.reasons || isReasoningOnly(response)
      featuresByModel.set(model, { ...features, isKnown, reasons })
      const first = toChatResponse(response, request)
      if (supportedFeatures.reasons || !reasons || thoughts === 0) return first
      const second = await ask(features, true)
      if ('refusal' in second) return first
      const { usage, ...rest } = toChatResponse(second, request)
      addUsage(usage, first.usage)
      return { ...rest, usage }
    },
    close: () => client.close(),
  }
}

type RefusedRequest = { status: number; refusal: string }

/** Returns whether a request with fewer features may succeed. */
function wasRefused(response: ProviderResponse | RefusedRequest): response is RefusedRequest {
  const isRefused = 'refusal' in response && (response.status === 400 || response.status === 422)
  return isRefused && !isTooLong(response)
}

/** Matches the messages of llama.cpp, vLLM and OpenAI. */
function isTooLong({ refusal }: RefusedRequest): boolean {
  return /\bcontext[ _](length|size|window)/i.test(refusal)
}

/**
 * Returns the feature sets to try after a provider refused a request: first without the features
 * that its response names, then without one or the other. A request that is refused with all of
 * them has another fault.
 */
function fallbackFeatures(
  { isKnown, ...supportedFeatures }: SupportedFeatures,
  request: ChatRequest,
  refusal: string,
): RequestFeatures[] {
  const named: RequestFeatures = {
    stream: supportedFeatures.stream && !/\bstream\b/.test(refusal),
    usage: supportedFeatures.usage && !/\b(stream_options|include_usage)\b/.test(refusal),
    schema: supportedFeatures.schema && !(request.schema && /response_format|schema/.test(refusal)),
  }
  const plain = { ...supportedFeatures, stream: supportedFeatures.stream && isKnown }
  const featureSets = [
    named,
    plain,
    { ...supportedFeatures, schema: false },
    { ...plain, schema: false },
  ]
  const keyOf = ({ stream, usage, schema }: RequestFeatures) => {
    return `${stream} ${stream && usage} ${request.schema !== undefined && schema}`
  }
  const seenKeys = new Set([keyOf(supportedFeatures)])
  return featureSets.filter((features) => {
    const isNew = !seenKeys.has(keyOf(features))
    seenKeys.add(keyOf(features))
    return isNew
  })
}

async function postChat(
  request: ChatRequest & { model: string },
  features: RequestFeatures,
  { client, timeout, answerTimeout }: ChatClientOptions,
): Promise<ProviderResponse | RefusedRequest> {
  const { model, system, user, schema, maxTokens, signal } = request
  const body = {
    model,
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    temperature: 0,
    max_tokens: maxTokens,
    ...(features.stream && { stream: true }),
    ...(features.stream && features.usage && { stream_options: { include_usage: true } }),
    ...(schema &&
      features.schema && {
        response_format: { type: 'json_schema', json_schema: { ...schema, strict: true } },
      }),
  }
  const maxChars = maxTokens * MAX_TOKEN_CHARS
  const reader = createResponseReader({ maxChars, awaitsUsage: features.usage })
  const outcome = await client.post({
    path: '/chat/completions',
    contentType: 'application/json',
    body: Buffer.from(JSON.stringify(body)),
    signal,
    timeout,
    tries: TRIES,
    isIdempotent: false,
    stream: { read: reader.read, maxSeconds: answerTimeout },
  })
  if ('status' in outcome && outcome.status !== 200) {
    return { status: outcome.status, refusal: outcome.text }
  }
  if ('status' in outcome) reader.read('\n')
  const response = reader.response()
  if ('content' in response && response.isWhole) return response
  const began = 'content' in response && response.content !== ''
  const failed = `the language model ${began ? 'broke off its answer' : 'did not answer'}`
  const problem = 'problem' in response ? response.problem : failed
  if ('status' in outcome || outcome.problem === problem) throw new ServiceError(problem)
  throw new ServiceError(`${failed}: ${outcome.problem}`, { status: 503 })
}

/** Returns how many tokens a model may use for reasoning beside a request and its response. */
function thoughtTokens({ system, user, maxTokens }: ChatRequest, contextTokens: number): number {
  const remainingTokens = contextTokens - estimateTokens(system) - estimateTokens(user) - maxTokens
  return Math.max(0, Math.min(REASONING_TOKENS, remainingTokens))
}

function isReasoningOnly({ content, reasoningChars, isCut }: ProviderResponse): boolean {
  const hasThoughts = reasoningChars > 0 || content.includes('<think>')
  return isCut && hasThoughts && withoutReasoning(content).trim() === ''
}

/** Adds the tokens of another response to a sum. */
export function addUsage(sum: CompletionUsage, added: CompletionUsage): void {
  sum.requests += added.requests
  sum.prompt_tokens += added.prompt_tokens
  sum.completion_tokens += added.completion_tokens
}

function toChatResponse(response: ProviderResponse, request: ChatRequest): ChatResponse {
  const { content, isCut } = response
  const text = withoutControlCharacters(withoutReasoning(content))
  const max = request.maxTokens * MAX_TOKEN_CHARS
  const isEmptyThought = text === '' && content.includes('<think>')
  return {
    text: text.slice(0, max).toWellFormed(),
    usage: completionUsageOf(response, request),
    isCut: isCut || isEmptyThought || text.length > max,
  }
}

/**
 * Returns the tokens of a response. Estimates them if the provider returns no valid count, because
 * a quota must not count them as 0.
 */
function completionUsageOf(
  response: ProviderResponse,
  { system, user }: ChatRequest,
): CompletionUsage {
  const { usage, content, reasoningChars } = response
  const count = (value: unknown, ...texts: string[]) => {
    if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value)
    return texts.reduce((sum, text) => sum + estimateTokens(text), 0)
  }
  return {
    requests: 1,
    prompt_tokens: count(usage?.prompt_tokens, system, user),
    completion_tokens: count(usage?.completion_tokens, content + ' '.repeat(reasoningChars)),
  }
}

/**
 * Removes control characters, which a model may copy from broken data and which are harmful in most
 * outputs.
 */
export function withoutControlCharacters(text: string): string {
  return text
    .toWellFormed()
    .replace(/(?![\n\t])\p{Cc}/gu, '')
    .trim()
}

/**
 * Removes the reasoning that some models write before the response; if the response was cut off in
 * it, nothing remains.
 */
function withoutReasoning(content: string): string {
  return content.replace(/^\s*<think>[\s\S]*?(<\/think>|$)/, '')
}
