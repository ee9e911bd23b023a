/** A request to the process; `schema` is the JSON schema of the response. */
export type LlamaTask = {
  id: number
  model: { file: string; contextTokens: number; usesGpu: boolean }
  system: string
  user: string
  /** Requests with equal keys may share the state of the common beginning of their prompts. */
  cacheKey?: string | undefined
  schema?: object | undefined
  maxTokens: number
}

/** A response of the process; `problem` says why there is no text. */
export type LlamaResponse = { id: number } & (
  | { text: string; isCut: boolean; promptTokens: number; completionTokens: number }
  | { problem: string }
)

/** The progress of a response, sent several times a second at most. */
export type LlamaProgress = { id: number; isWriting: true }

/** Cancels a task. The model stays loaded, and the response of the task is ignored. */
export type LlamaCancel = { cancels: number }
