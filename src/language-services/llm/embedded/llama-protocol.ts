/** What the process is asked; `schema` is what the JSON of the response must conform to. */
export type LlamaTask = {
  id: number
  model: { file: string; contextTokens: number; usesGpu: boolean }
  system: string
  user: string
  /** Equal keys may share what was computed for the equal beginning of their prompts. */
  cacheKey?: string | undefined
  schema?: object | undefined
  maxTokens: number
}

/** What the process answers. `problem` says why there is none. */
export type LlamaResponse = { id: number } & (
  | { text: string; isCut: boolean; promptTokens: number; completionTokens: number }
  | { problem: string }
)

/** What the process sends while it writes, several times a second at most. */
export type LlamaProgress = { id: number; isWriting: true }

/** Ends a task, whose answer is then of no use. The model stays loaded. */
export type LlamaCancel = { cancels: number }
