/**
 * A process that runs a language model with llama.cpp and nothing else: the library holds the model
 * in memory, and a file that it cannot read may crash the process.
 */
import { availableParallelism, constants, setPriority } from 'node:os'
import type { LlamaCancel, LlamaProgress, LlamaResponse, LlamaTask } from './llama-protocol.ts'
import { beforeRepetition } from './repeated-text.ts'

/** The part of `node-llama-cpp` that is used; the package is installed on request. */
type Library = {
  getLlama(options: object): Promise<Llama>
  LlamaChatSession: new (
    options: object,
  ) => {
    promptWithMeta(text: string, options: object): Promise<Reply>
    dispose(options: object): void
  }
}
type Reply = { responseText: string; stopReason: string }
type Llama = {
  loadModel(options: object): Promise<{
    createContext(options: object): Promise<{ getSequence(): Sequence }>
  }>
  createGrammarForJsonSchema(schema: object): Promise<object>
}
type Meter = { usedInputTokens: number; usedOutputTokens: number }
type Sequence = {
  readonly nextTokenIndex: number
  clearHistory(): Promise<void>
  tokenMeter: { getState(): Meter; diff(earlier: Meter): Meter }
}

const PACKAGE: string = 'node-llama-cpp'
const PROGRESS_MS = 200

async function importLibrary(): Promise<Library> {
  try {
    return (await import(PACKAGE)) as Library
  } catch (cause) {
    const remedy = `'npm install --no-save ${PACKAGE}' in the project folder installs it`
    throw new Error(`the package ${PACKAGE} does not load: ${remedy}`, { cause })
  }
}

async function load({ file, contextTokens, usesGpu }: LlamaTask['model']) {
  const { getLlama, LlamaChatSession } = await importLibrary()
  const llama = await getLlama({
    gpu: usesGpu ? 'auto' : false,
    build: 'never',
    skipDownload: true,
    progressLogs: false,
    logLevel: 'error',
    // The other cores are for recognition.
    maxThreads: Math.max(1, Math.floor(availableParallelism() / 2)),
  })
  const model = await llama.loadModel({ modelPath: file })
  const context = await model.createContext({ contextSize: contextTokens })
  return { llama, LlamaChatSession, sequence: context.getSequence() }
}

let loaded: ReturnType<typeof load> | undefined
/** The running task and the controller that cancels it. */
let running = { id: 0, canceling: new AbortController() }
/** The cache key of the tokens in the context of the model. */
let lastKey: string | undefined

async function respond({
  id,
  model,
  system,
  user,
  cacheKey,
  schema,
  maxTokens,
}: LlamaTask): Promise<LlamaResponse> {
  const canceling = new AbortController()
  running = { id, canceling }
  loaded ??= load(model).catch((error: Error) => {
    // The file or package may exist when the next request arrives.
    loaded = undefined
    throw error
  })
  const { llama, LlamaChatSession, sequence } = await loaded
  // Tokens of the same key stay in the context and are not computed again.
  if (cacheKey === undefined || cacheKey !== lastKey) await sequence.clearHistory()
  lastKey = cacheKey
  const before = sequence.tokenMeter.getState()
  const session = new LlamaChatSession({ contextSequence: sequence, systemPrompt: system })
  try {
    const grammar = schema && (await llama.createGrammarForJsonSchema(schema))
    const reportProgress = createProgressReport(id)
    let written = ''
    let kept: string | undefined
    const onTextChunk = (chunk: string) => {
      reportProgress()
      written += chunk
      if (!grammar) kept ??= beforeRepetition(written)
      if (kept !== undefined) canceling.abort(new Error('it repeats itself'))
    }
    const options = {
      maxTokens,
      temperature: 0,
      onTextChunk,
      ...(grammar && { grammar }),
      signal: canceling.signal,
      stopOnAbortSignal: true,
    }
    const { responseText, stopReason } = await session.promptWithMeta(user, options)
    const used = sequence.tokenMeter.diff(before)
    const { usedInputTokens, usedOutputTokens: completionTokens } = used
    return {
      id,
      text: kept ?? responseText,
      isCut: kept !== undefined || stopReason === 'maxTokens',
      // Cached tokens count as well, as they do with other providers.
      promptTokens: Math.max(usedInputTokens, sequence.nextTokenIndex - completionTokens),
      completionTokens,
    }
  } finally {
    session.dispose({ disposeSequence: false })
  }
}

/** Creates a function that reports progress, at most every `PROGRESS_MS`. */
function createProgressReport(id: number): () => void {
  let reportedAt = Number.NEGATIVE_INFINITY
  return () => {
    const now = performance.now()
    if (now - reportedAt < PROGRESS_MS) return
    reportedAt = now
    process.send!({ id, isWriting: true } satisfies LlamaProgress)
  }
}

process.on('message', (task: LlamaTask | LlamaCancel) => {
  if ('cancels' in task) {
    if (task.cancels === running.id) running.canceling.abort(new Error('canceled'))
    return
  }
  void respond(task).then(
    (reply) => process.send!(reply),
    ({ message }: Error) =>
      process.send!({ id: task.id, problem: message } satisfies LlamaResponse),
  )
})
// The server is gone.
process.on('disconnect', () => process.exit())
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
