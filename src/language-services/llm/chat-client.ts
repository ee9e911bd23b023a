import type { ServiceClient } from '../../net/service-client.ts'
import { ServiceFailure } from '../service-failure.ts'
import { createResponseReader, type ProviderResponse } from './response-reader.ts'
import { estimateTokens } from './token-estimate.ts'

/** Tokens that responses took, as their provider counted them. */
export type CompletionUsage = { requests: number; prompt_tokens: number; completion_tokens: number }

/** A request to a model: its instructions, and the text that it works on. */
export type ChatRequest = {
  system: string
  user: string
  /**
   * The JSON that the response must be. A provider that cannot be bound to it gets it as a request.
   */
  schema?: { name: string; schema: object }
  /** Most tokens of the response. */
  maxTokens: number
  /** The model to ask instead of the configured one. */
  model?: string | undefined
  /**
   * Requests with the same key, those of a job, may share what an embedded model computed for the
   * equal beginning of their prompts: so the time of a response reveals nothing of the requests of
   * others.
   */
  cacheKey?: string
  signal: AbortSignal
}

/** The text of a response. `isCut`: it reached the most tokens before its end. */
export type ChatResponse = { text: string; usage: CompletionUsage; isCut: boolean }

/** A provider of language models. */
export type ChatModel = {
  /** Rejects with `ServiceFailure` when there is no response. */
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
 * A token has some four letters. Not every provider keeps to the most tokens of a response, and
 * what a longer one would cost in further requests has no bound.
 */
const MAX_TOKEN_CHARS = 10

/** What is asked for beside the plain response; `schema` where there is one. */
type RequestFeatures = { stream: boolean; usage: boolean; schema: boolean }

/**
 * What a provider takes of a model. `isKnown`: it answered a request to stream. `reasons`: its
 * reasoning took all tokens of a response.
 */
type SupportedFeatures = RequestFeatures & { isKnown: boolean; reasons: boolean }

/** Tokens for thoughts before a response, as far as the context has room for them. */
const REASONING_TOKENS = 4096

/**
 * Creates a client of `POST {url}/chat/completions`. Answers are made without chance, and streamed
 * where the provider can.
 */
export function createChatClient(options: ChatClientOptions): ChatModel {
  const { client, contextTokens } = options
  /** What each provider supports of a model: what it refused once is not requested again. */
  const takenBy = new Map<string, SupportedFeatures>()
  return {
    contextTokens,
    async complete(request) {
      const model = request.model ?? options.model
      const supportedFeatures = takenBy.get(model) ?? {
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
          throw new ServiceFailure(message, { status: 413 })
        }
        throw new ServiceFailure(`the language model refused the request with ${response.status}`)
      }
      const isKnown = supportedFeatures.isKnown || features.stream
      const reasons = supportedFeatures.reasons || isReasoningOnly(response)
      takenBy.set(model, { ...features, isKnown, reasons })
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

/** Returns whether another manner may help. */
function wasRefused(response: ProviderResponse | RefusedRequest): response is RefusedRequest {
  const isRefused = 'refusal' in response && (response.status === 400 || response.status === 422)
  return isRefused && !isTooLong(response)
}

/** As llama.cpp, vLLM and OpenAI word it. */
function isTooLong({ refusal }: RefusedRequest): boolean {
  return /\bcontext[ _](length|size|window)/i.test(refusal)
}

/**
 * Returns how else to ask a provider that refused a request: first without what its response names,
 * then without one or the other. A request that it refuses in every manner has another fault.
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
    ...{ signal, timeout, tries: TRIES, isIdempotent: false },
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
  if ('status' in outcome || outcome.problem === problem) throw new ServiceFailure(problem)
  throw new ServiceFailure(`${failed}: ${outcome.problem}`, { status: 503 })
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

/** Adds what another response took. */
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
 * Where the provider gives no count, or none that can be, tokens are estimated: a quota must not
 * count them as none.
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

/** Control characters, as a model may repeat them from broken data, do harm wherever texts go. */
export function withoutControlCharacters(text: string): string {
  return text
    .toWellFormed()
    .replace(/(?![\n\t])\p{Cc}/gu, '')
    .trim()
}

/**
 * Some models reason before they answer; one that is cut off while it reasons returns no answer.
 */
function withoutReasoning(content: string): string {
  return content.replace(/^\s*<think>[\s\S]*?(<\/think>|$)/, '')
}
