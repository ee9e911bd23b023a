/**
 * Stands in for `node-llama-cpp` in the process of a bundled model. `fakeLlamaEnvironment` has the
 * variables that import it there first. Its model writes what `user` says: `WORDSxMS` writes WORDS
 * words with the id of its process, one every MS milliseconds; `loop` writes the same word, and
 * `held` at last whether it was computed from what the model held. A prompt has 7 tokens, of which
 * the model computes the 2 that it does not hold.
 */
import { registerHooks } from 'node:module'

/** Variables for a process in which the package is this stand-in. */
export const fakeLlamaEnvironment = { NODE_OPTIONS: `--import=${import.meta.url}` }

type Options = {
  onTextChunk(text: string): void
  signal: AbortSignal
  stopOnAbortSignal: boolean
}

/** The part of the package that is used. */
export async function getLlama() {
  const context = { getSequence: () => sequence }
  return {
    loadModel: async () => ({ createContext: async () => context }),
    createGrammarForJsonSchema: async () => ({}),
  }
}

let holds = false
let held = false

const sequence = {
  nextTokenIndex: 10,
  async clearHistory() {
    holds = false
  },
  tokenMeter: {
    getState: () => ({}),
    diff: () => ({ usedInputTokens: held ? 2 : 7, usedOutputTokens: 3 }),
  },
}

/** A conversation with the model. */
export class LlamaChatSession {
  async promptWithMeta(user: string, { onTextChunk, signal }: Options) {
    const [, words, pause] = /(\d+)x(\d+)/.exec(user)!
    let responseText = ''
    held = holds
    holds = true
    for (let n = 0; n < Number(words); n++) {
      await new Promise((resolve) => setTimeout(resolve, Number(pause)))
      if (signal.aborted && !user.includes('deaf')) return { responseText, stopReason: 'abort' }
      const word = user.includes('loop') ? `${process.pid} ` : `${process.pid}.${n} `
      responseText += word
      onTextChunk(word)
    }
    if (user.includes('stall')) await new Promise(() => setInterval(() => {}, 1000))
    if (user.includes('held')) responseText += held ? 'held' : 'computed'
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
