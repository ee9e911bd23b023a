import type { createReader } from '../env-reader.ts'

/** A server that speaks OpenAI's chat API, such as Ollama, vLLM, llama.cpp or a hosted one. */
export type LlmConfig = {
  /** The address before `/chat/completions`. */
  url: string
  /** The model that requests name. */
  model: string
  /** The bearer token; a secret. */
  apiKey: string | undefined
  /** Tokens that a request and its answer may take together. */
  contextTokens: number
  /** Seconds that one request may take. */
  timeout: number
  /** Requests at a time. */
  concurrency: number
}

type Reader = ReturnType<typeof createReader>

/** Reads the settings of the language model; undefined when there is none. */
export function readLlm(
  read: Reader,
  env: Record<string, string | undefined>,
  problems: string[],
): LlmConfig | undefined {
  const url = read.url('LLM_URL')
  const config = {
    model: read.text('LLM_MODEL', ''),
    apiKey: read.text('LLM_API_KEY', '') || undefined,
    contextTokens: read.integer('LLM_CONTEXT_TOKENS', 8192, { min: 1024, max: 10_000_000 }),
    timeout: read.integer('LLM_TIMEOUT_S', 120, { min: 1, max: 3600 }),
    concurrency: read.integer('LLM_CONCURRENCY', 4, { min: 1, max: 256 }),
  }
  if (config.apiKey && !/^[!-~]+$/.test(config.apiKey)) {
    problems.push('STENO_LLM_API_KEY must be visible ASCII characters')
  }
  if (url !== undefined) {
    const { username, password, search, hash } = new URL(url)
    if (username || password || search || hash) {
      problems.push('STENO_LLM_URL must have no name, password, query or fragment')
    }
    if (config.model === '') problems.push('STENO_LLM_URL needs STENO_LLM_MODEL')
    return { url: url.replace(/\/$/, ''), ...config }
  }
  const other = ['MODEL', 'API_KEY'].find((name) => env[`STENO_LLM_${name}`])
  if (other && !env.STENO_LLM_URL) problems.push(`STENO_LLM_${other} needs STENO_LLM_URL`)
  return undefined
}
