import { dirname } from 'node:path'
import { keepsHidden, MARKERS } from '../hidden-text.ts'
import { ServiceError } from '../service-error.ts'
import { ProgramEndedError, ProgramError, runProgram } from './run-program.ts'

/** A rule-based translator, run as a separate program for each request. */
export type Apertium = {
  /** Returns the installed pairs: keys such as `en-es`, and the names of the pairs in Apertium. */
  pairs(options: { signal: AbortSignal }): Promise<Map<string, string>>
  /** Translates texts one for one; rejects with `ServiceError`. */
  translate(task: ApertiumTask, options: { signal: AbortSignal }): Promise<string[]>
}

/** Texts in one language. `pair` is a name that `pairs` returned. */
export type ApertiumTask = { pair: string; target: string; texts: readonly string[] }

/**
 * The timeout of a translation and of the list of pairs, in seconds. A request has a few thousand
 * characters, which take a tenth of a second.
 */
const TRANSLATE_TIMEOUT = 30
const LIST_TIMEOUT = 10
/** Translations are at most a few times as long as their text. */
const GROWTH = 8
const FRAME_BYTES = 64 * 1024
/** Separates texts: Apertium copies blank lines, and ends a sentence there. */
const BETWEEN = '\n\n'
const PLACEHOLDER = /Qx([a-z]+)q/g

/** Creates a translator that runs the program `file`: a path, or a name in the usual folders. */
export function createApertium(file: string, env: Record<string, string>): Apertium {
  const path = [dirname(file), '/usr/local/bin', '/usr/bin', '/bin'].filter((one) => one !== '.')
  const settings = { env: { ...env, PATH: path.join(':'), LC_ALL: 'C.UTF-8' } }

  async function run(
    args: string[],
    input: string,
    { seconds, signal }: { seconds: number; signal: AbortSignal },
  ): Promise<string> {
    const maxBytes = GROWTH * Buffer.byteLength(input) + FRAME_BYTES
    try {
      const limitMs = seconds * 1000
      const options = { ...settings, input, limitMs, maxBytes, signal }
      return await runProgram(file, args, options).catch((error) => {
        if (!(error instanceof ProgramEndedError)) throw error
        return runProgram(file, args, options)
      })
    } catch (cause) {
      if (!(cause instanceof ProgramError)) throw cause
      throw new ServiceError(`Apertium ${cause.message}`, { status: 503, cause })
    }
  }

  async function translateOne(pair: string, text: string, signal: AbortSignal): Promise<string> {
    return await run(['-u', pair], text, { seconds: TRANSLATE_TIMEOUT, signal })
  }

  return {
    async pairs({ signal }) {
      const listed = await run(['-l'], '', { seconds: LIST_TIMEOUT, signal })
      return readPairs(listed)
    },
    async translate({ pair, target, texts }, { signal }) {
      const coveredTexts = texts.map(coverHidden)
      let output = (await translateOne(pair, coveredTexts.join(BETWEEN), signal)).split(BETWEEN)
      if (output.length !== coveredTexts.length) {
        output = []
        for (const text of coveredTexts) output.push(await translateOne(pair, text, signal))
      }
      return output.map((text, i) => {
        const translation = restoreHidden(normalizeSpacing(text, target), texts[i]!)
        if (!keepsHidden(translation, texts[i]!)) {
          throw new ServiceError('Apertium did not translate the text')
        }
        return translation
      })
    },
  }
}

/** Reads lines such as `eng-spa`; pairs with a variant (`spa-eng_US`) are left out. */
function readPairs(listed: string): Map<string, string> {
  const pairs = new Map<string, string>()
  for (const line of listed.split('\n')) {
    const [, name, from, to] = /^\s*(([a-z]{2,3})-([a-z]{2,3}))\s*$/.exec(line) ?? []
    if (name) pairs.set(`${apertiumCode(from!)}-${apertiumCode(to!)}`, name)
  }
  return pairs
}

/** Returns our code of a language: two letters if it has such a code (`spa` is `es`). */
function apertiumCode(name: string): string {
  const [code = name] = Intl.getCanonicalLocales(name)
  return code === 'nb' ? 'no' : code
}

/**
 * Returns a text as one line, with the redaction markers replaced by placeholders that no
 * dictionary contains.
 */
function coverHidden(text: string): string {
  let n = 0
  // Control characters have no meaning in speech.
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim()
  return line.replace(MARKERS, () => `Qx${lettersOfNumber(n++)}q`)
}

function restoreHidden(translation: string, text: string): string {
  const hidden = text.match(MARKERS) ?? []
  const byLetters = new Map(hidden.map((marker, n) => [lettersOfNumber(n), marker]))
  return translation.replace(
    PLACEHOLDER,
    (placeholder, letters) => byLetters.get(letters) ?? placeholder,
  )
}

/** Returns a number as letters, so that a placeholder contains no digits. */
function lettersOfNumber(n: number): string {
  return [...String(n)].map((digit) => 'bcdfghjkmn'[Number(digit)]!).join('')
}

/**
 * Removes the spaces that Apertium leaves where it moved words; French has spaces before some
 * punctuation.
 */
function normalizeSpacing(text: string, target: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return target === 'fr' ? line.replace(/ ([.,])/g, '$1') : line.replace(/ ([.,;:!?])/g, '$1')
}
