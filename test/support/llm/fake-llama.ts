/**
 * Stands in for `node-llama-cpp` in the process of an embedded model, which it is imported into
 * before all else: `registerFakeLlama` gives the variables. Its model writes what `user` says:
 * `WORDSxMS` writes the id of its process so many times, once in so many milliseconds.
 */
import { registerHooks } from 'node:module'

/** Variables for a process in which the package is this stand-in. */
export const fakeLlamaEnvironment = { NODE_OPTIONS: `--import=${import.meta.url}` }

type Options = { onTextChunk(text: string): void; signal: AbortSignal }

/** The part of the package that is used. */
export async function getLlama() {
  const tokenMeter = {
    getState: () => ({}),
    diff: () => ({ usedInputTokens: 7, usedOutputTokens: 3 }),
  }
  const sequence = { clearHistory: async () => {}, tokenMeter }
  const context = { getSequence: () => sequence }
  return { loadModel: async () => ({ createContext: async () => context }) }
}

/** A conversation with the model. */
export class LlamaChatSession {
  async promptWithMeta(user: string, { onTextChunk, signal }: Options) {
    const [, words, pause] = /(\d+)x(\d+)/.exec(user)!
    let responseText = ''
    for (let n = 0; n < Number(words); n++) {
      await new Promise((resolve) => setTimeout(resolve, Number(pause)))
      if (!user.includes('deaf')) signal.throwIfAborted()
      responseText += `${process.pid} `
      onTextChunk(responseText)
    }
    if (user.includes('stall')) await new Promise(() => setInterval(() => {}, 1000))
    return { responseText, stopReason: 'eogToken' }
  }

  dispose() {}
}

registerHooks({
  resolve(specifier, context, next) {
    if (specifier !== 'node-llama-cpp') return next(specifier, context)
    return { url: import.meta.url, shortCircuit: true }
  },
})
