import type { ServiceClient } from '../net/service-client.ts'

/** Tokens that answers took, as their provider counted them. */
export type Usage = { requests: number; prompt_tokens: number; completion_tokens: number }

/** A question to a model: what it is told to do, and the text that it works on. */
export type ChatRequest = {
  system: string
  user: string
  /**
   * The JSON that the answer must be. A provider that cannot be bound to it gets it as a request.
   */
  schema?: { name: string; schema: object }
  /** Most tokens of the answer. */
  maxTokens: number
  /** The model to ask instead of the configured one. */
  model?: string | undefined
  signal: AbortSignal
}

/** The text of an answer. `isCut`: it reached the most tokens before its end. */
export type ChatAnswer = { text: string; usage: Usage; isCut: boolean }

/** A provider of language models. */
export type ChatModel = {
  /** Rejects with `LlmFailure` when there is no answer. */
  complete(request: ChatRequest): Promise<ChatAnswer>
  /** Tokens that a request and its answer may take together. */
  readonly contextTokens: number
  close(): Promise<void>
}

type LlmFailureOptions = { status?: number; exception?: string; cause?: unknown }

/** Why a model gave no answer; the message may reach the customer. */
export class LlmFailure extends Error {
  readonly status: number
  readonly exception: string

  constructor(
    message: string,
    { status = 502, exception = 'ServiceFailed', cause }: LlmFailureOptions = {},
  ) {
    super(message, { cause })
    this.status = status
    this.exception = exception
  }
}

/** Options of a provider with OpenAI's chat API, such as Ollama, vLLM or llama.cpp. */
export type ChatClientOptions = {
  client: ServiceClient
  model: string
  contextTokens: number
  /** Seconds that one request may take. */
  timeout: number
}

/**
 * Attempts of one request. None follows one that the provider may have worked on and charges for.
 */
const TRIES = 3

/**
 * A token has some four letters. Not every provider keeps to the most tokens of an answer, and what
 * a longer one would cost in further requests has no bound.
 */
const MOST_TOKEN_LETTERS = 10

type Fields = Record<string, unknown>

/** Creates a client of `POST {url}/chat/completions`. Answers are made without chance. */
export function createChatClient(options: ChatClientOptions): ChatModel {
  const { client, model, contextTokens, timeout } = options
  /** Some providers refuse a schema; then it is only asked for in words. */
  let takesSchema = true

  async function post(request: ChatRequest, withSchema: boolean) {
    const { system, user, schema, maxTokens, signal } = request
    const body = {
      model: request.model ?? model,
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: user },
      ],
      temperature: 0,
      max_tokens: maxTokens,
      ...(schema &&
        withSchema && {
          response_format: { type: 'json_schema', json_schema: { ...schema, strict: true } },
        }),
    }
    const answer = await client.post({
      path: '/chat/completions',
      contentType: 'application/json',
      body: Buffer.from(JSON.stringify(body)),
      ...{ signal, timeout, tries: TRIES, repeatsWork: false },
    })
    if ('problem' in answer) {
      throw new LlmFailure(`the language model did not answer: ${answer.problem}`, { status: 503 })
    }
    return answer
  }

  return {
    contextTokens,
    async complete(request) {
      let answer = await post(request, takesSchema)
      if ((answer.status === 400 || answer.status === 422) && request.schema && takesSchema) {
        answer = await post(request, false)
        if (answer.status === 200) takesSchema = false
      }
      if (answer.status !== 200) {
        throw new LlmFailure(`the language model refused the request with ${answer.status}`)
      }
      return readCompletion(answer.text, request)
    },
    close: () => client.close(),
  }
}

function readCompletion(text: string, { maxTokens }: ChatRequest): ChatAnswer {
  let completion: Fields
  try {
    completion = fieldsOf(JSON.parse(text))
  } catch (cause) {
    throw new LlmFailure('the answer of the language model is no JSON', { cause })
  }
  const choice = fieldsOf(Array.isArray(completion.choices) ? completion.choices[0] : undefined)
  const { content } = fieldsOf(choice.message)
  if (typeof content !== 'string') throw new LlmFailure('the language model answered no text')
  const answer = cleanText(withoutReasoning(content))
  const most = maxTokens * MOST_TOKEN_LETTERS
  const { prompt_tokens, completion_tokens } = fieldsOf(completion.usage)
  const count = (value: unknown) => (Number.isSafeInteger(value) ? Math.max(0, value as number) : 0)
  const usage = {
    requests: 1,
    prompt_tokens: count(prompt_tokens),
    completion_tokens: count(completion_tokens),
  }
  const isEmptyThought = answer === '' && content.includes('<think>')
  const isCut = choice.finish_reason === 'length' || isEmptyThought || answer.length > most
  return { text: answer.slice(0, most).toWellFormed(), usage, isCut }
}

/** Control characters, as a model may repeat them from broken data, do harm wherever texts go. */
function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/(?![\n\t])\p{Cc}/gu, '')
    .trim()
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

/** Some models think aloud before they answer; one that is cut while it thinks answers nothing. */
function withoutReasoning(content: string): string {
  return content.replace(/^\s*<think>[\s\S]*?(<\/think>|$)/, '')
}
