import type { EnvReader } from './env-reader.ts'

/** A language model of this machine, or a server that speaks OpenAI's chat API. */
export type LlmConfig = {
  /** The address before `/chat/completions`; undefined for a model of this machine. */
  url: string | undefined
  /** The installed model, or the path of a GGUF file; undefined for a server. */
  embedded: string | undefined
  /** The model that requests name. */
  model: string
  /** Further models of the server that a prompt may name. */
  allowedModels: string[]
  /** The bearer token; a secret. */
  apiKey: string | undefined
  /** Tokens that a request and its response may take together. */
  contextTokens: number
  /** Seconds until a response begins, and from each piece of it to the next. */
  timeout: number
  /** Seconds that a whole response may take. */
  answerTimeout: number
  /** Maximum concurrent requests. */
  concurrency: number
}

/** Reads the settings of the language model; undefined when there is none. */
export function readLlm(read: EnvReader, problems: string[]): LlmConfig | undefined {
  const [, embedded] = /^embedded:(.+)$/.exec(read.text('LLM_URL', '')) ?? []
  const url = embedded === undefined ? read.serviceUrl('LLM_URL') : undefined
  const timeout = read.integer('LLM_TIMEOUT_S', 120, { min: 1, max: 3600 })
  const longest = Math.max(1800, timeout)
  const config = {
    model: read.text('LLM_MODEL', ''),
    allowedModels: read.list('LLM_ALLOWED_MODELS', ''),
    apiKey: read.bearerToken('LLM_API_KEY'),
    contextTokens: read.integer('LLM_CONTEXT_TOKENS', 8192, { min: 1024, max: 10_000_000 }),
    timeout,
    answerTimeout: read.integer('LLM_ANSWER_TIMEOUT_S', longest, { min: 1, max: 86_400 }),
    concurrency: read.integer('LLM_CONCURRENCY', 4, { min: 1, max: 256 }),
  }
  read.needs('LLM_URL', ['LLM_MODEL', 'LLM_ALLOWED_MODELS', 'LLM_API_KEY'])
  if (embedded !== undefined) return { url, embedded, ...config }
  if (url === undefined) return undefined
  if (config.model === '') problems.push('STENO_LLM_URL needs STENO_LLM_MODEL')
  return { url, embedded, ...config }
}
