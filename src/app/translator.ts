import { bareEnvironment } from '../audio/decoder/sandbox/bare-environment.ts'
import { type Apertium, createApertium } from '../language-services/apertium/apertium.ts'
import { ServiceError } from '../language-services/service-error.ts'
import type { AddOnError } from '../text/result/steps/envelope.ts'
import type { ServiceCallOptions, ServiceRequest } from '../text/service-add-ons/service-add-on.ts'
import { createFairSemaphore } from '../workers/fair-semaphore.ts'

/** Translates on a server without a language model. */
export type Translator = {
  /** Returns the source languages of the pairs that were installed at the last query. */
  sources(): string[]
  /** Returns the language pairs, such as `es-en`, that were installed at the last query. */
  pairs(): string[]
  /** Returns the translations of a request, or the error that prevents them. */
  translate(request: ServiceRequest, options: ServiceCallOptions): Promise<Translation>
}

type Translation = { texts: string[] } | { error: AddOnError }

/** Maximum concurrent programs; each uses one core. Live finals must not wait long. */
const CONCURRENCY = 2
const MAX_WAITING = 10_000

/**
 * Opens Apertium. `missing` describes a pair that is not installed. Pairs that are installed later
 * are found when they are needed. Rejects with `ServiceError` when the program cannot be run.
 */
export async function openTranslator(
  file: string,
  missing: (from: string, to: string) => AddOnError,
): Promise<Translator> {
  const apertium = createApertium(file, bareEnvironment())
  let pairs = await apertium.pairs(atStart())
  const inTurn = createFairSemaphore({ total: CONCURRENCY, perAccount: 1, maxWaiting: MAX_WAITING })

  async function pairOf(from: string, to: string, signal: AbortSignal) {
    const key = `${from}-${to}`
    if (!pairs.has(key)) pairs = await apertium.pairs({ signal })
    return pairs.get(key)
  }

  return {
    pairs: () => [...pairs.keys()],
    sources: () => [...new Set([...pairs.keys()].map((pair) => pair.split('-')[0]!))],
    async translate(request, { account, signal }) {
      const { target, texts, languages } = request as unknown as Fields
      const translations = [...texts]
      try {
        for (const from of new Set(languages)) {
          const pair = await inTurn(() => pairOf(from, target, signal), { account, signal })
          if (pair === undefined) return { error: missing(from, target) }
          const indices = texts.flatMap((_, i) => (languages[i] === from ? i : []))
          const task = { pair, target, texts: indices.map((i) => texts[i]!) }
          const done = await inTurn(() => apertium.translate(task, { signal }), { account, signal })
          for (const [n, i] of indices.entries()) translations[i] = done[n]!
        }
        return { texts: translations }
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        const { status: status_code, exception, message } = error
        return { error: { status_code, exception, message } }
      }
    },
  }
}

/** The fields of a request of `text/service-add-ons/translation.ts`. */
type Fields = { target: string; texts: string[]; languages: string[] }

/** Returns options without a cancellation: the program has its own time limit. */
function atStart(): Parameters<Apertium['pairs']>[0] {
  return { signal: new AbortController().signal }
}
