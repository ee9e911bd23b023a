import { type ChildProcess, fork } from 'node:child_process'
import { processStarter } from '../../../workers/start-worker.ts'
import { SupervisedWorker, type WorkerExit } from '../../../workers/supervised-worker.ts'
import { ServiceError } from '../../service-error.ts'
import type { ChatModel, ChatRequest, ChatResponse } from '../chat-client.ts'
import type { LlamaCancel, LlamaProgress, LlamaResponse, LlamaTask } from './llama-protocol.ts'

/** Maximum tokens of a text without a schema: a small model that writes more repeats itself. */
const MAX_TEXT_TOKENS = 512

/**
 * Seconds that a canceled task may take to end, between two batches of its prompt. A restart of the
 * process would take longer.
 */
const CANCEL_SECONDS = 15

/** The file of a model on this machine, and how to run it. */
export type EmbeddedModelOptions = {
  /** Returns the path of the GGUF file; undefined when it is not installed. */
  findFile(): string | undefined
  /** The error message when the file is not installed. */
  missingMessage: string
  contextTokens: number
  usesGpu: boolean
  /**
   * Seconds from the start of a request until its response begins, and between parts of the
   * response.
   */
  timeout: number
  /** Seconds that a whole response may take. */
  answerTimeout: number
  /** Seconds after which the process of an idle model ends; -1 = never. */
  idleSeconds: number
  env: Record<string, string>
  /** Seconds that a canceled request may take to end. For tests. */
  cancelSeconds?: number
}

/**
 * Runs a GGUF model with llama.cpp in a process of its own, one request after the other. The
 * process starts with the first request and ends when it is idle.
 */
export function createEmbeddedModel(options: EmbeddedModelOptions): ChatModel {
  const { findFile, missingMessage: missing, contextTokens, usesGpu, idleSeconds, env } = options
  const { timeout, answerTimeout, cancelSeconds = CANCEL_SECONDS } = options
  const worker = new SupervisedWorker<LlamaResponse | LlamaProgress>({
    start: processStarter(() => startProcess(env), { mayIdle: true }),
  })
  let lastResponse: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let idleTimer: NodeJS.Timeout | undefined
  let lastId = 0

  async function run(request: ChatRequest): Promise<LlamaResponse> {
    const { signal } = request
    signal.throwIfAborted()
    const file = findFile()
    if (file === undefined) throw new ServiceError(missing, { status: 501 })
    const requestId = ++lastId
    const task = toTask(request, { id: requestId, model: { file, contextTokens, usesGpu } })
    const endsAt = performance.now() + answerTimeout * 1000
    const outcome = await worker.run<LlamaResponse>(task, {
      timeout: Math.min(timeout, answerTimeout),
      signal,
      cancel: { message: { cancels: requestId } satisfies LlamaCancel, timeout: cancelSeconds },
      receive(message) {
        if (message.id !== requestId) return undefined
        if (!('isWriting' in message)) return message
        const remainingSeconds = Math.max(0, (endsAt - performance.now()) / 1000)
        if (!signal.aborted) worker.watch(Math.min(timeout, remainingSeconds))
        return undefined
      },
    })
    signal.throwIfAborted()
    if ('response' in outcome) return outcome.response
    const isLate = performance.now() >= endsAt
    throw new ServiceError(describeLoss(outcome.lost, { ...options, isLate }), { status: 503 })
  }

  /**
   * Runs requests one after another, and ends the process when it has been idle for `idleSeconds`.
   */
  function runInOrder(request: ChatRequest): Promise<LlamaResponse> {
    clearTimeout(idleTimer)
    waiting++
    const response = lastResponse
      .then(() => run(request))
      .finally(() => {
        if (--waiting > 0 || idleSeconds < 0) return
        idleTimer = setTimeout(() => void worker.close(), idleSeconds * 1000).unref()
      })
    lastResponse = response.catch(() => {})
    return response
  }

  return {
    contextTokens,
    async complete(request) {
      const response = await runInOrder(request)
      if ('problem' in response)
        throw new ServiceError(`the language model failed: ${response.problem}`)
      return toCompletion(response)
    },
    async close() {
      clearTimeout(idleTimer)
      await worker.close()
    },
  }
}

function startProcess(env: Record<string, string>): ChildProcess {
  return fork(new URL('llama-process.ts', import.meta.url), {
    env,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
}

function toTask(
  { system, user, cacheKey, schema, maxTokens }: ChatRequest,
  { id, model }: Pick<LlamaTask, 'id' | 'model'>,
): LlamaTask {
  return {
    id,
    model,
    system,
    user,
    cacheKey,
    schema: schema?.schema,
    maxTokens: schema ? maxTokens : Math.min(maxTokens, MAX_TEXT_TOKENS),
  }
}

function toCompletion({
  text,
  isCut,
  promptTokens,
  completionTokens,
}: Exclude<LlamaResponse, { problem: string }>): ChatResponse {
  const usage = {
    requests: 1,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
  }
  return { text: text.trim(), usage, isCut }
}

function describeLoss(
  { reason, cause }: WorkerExit,
  {
    timeout,
    answerTimeout,
    isLate,
  }: Pick<EmbeddedModelOptions, 'timeout' | 'answerTimeout'> & { isLate: boolean },
): string {
  if (reason !== 'hung') return `the language model ended with ${cause}`
  if (isLate) return `the language model took longer than ${answerTimeout} s`
  return `the language model wrote nothing for ${timeout} s`
}
