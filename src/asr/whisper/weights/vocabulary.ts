import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { WeightFileError } from './weights.ts'

type AddedToken = { id: number; content: string }
type Tokenizer = { model?: { vocab?: Record<string, number> }; added_tokens?: AddedToken[] }

/** Timestamps go up by 20 ms from `<|0.00|>`, the token after `<|notimestamps|>`. */
const TIMESTAMP_STEP = 0.02

/**
 * Returns the tokens of a model by id, in the byte-level form of the vocabulary (`Ġthe`), from
 * whichever files the folder has. Timestamps that no file names are named; other ids without a name
 * get an empty text. Throws `WeightFileError` when there is no vocabulary.
 */
export function readVocabulary(folder: string, size: number): string[] {
  const named = readList(folder) ?? readMaps(folder)
  if (!named || named.length === 0) {
    throw new WeightFileError(
      `${folder} has no vocabulary (vocab.json, tokenizer.json or vocabulary.json)`,
    )
  }
  const tokens = Array.from({ length: size }, (_, id): string => named[id] ?? '')
  const first = tokens.indexOf('<|notimestamps|>') + 1
  for (let id = first; first > 0 && id < size; id++) {
    tokens[id] ||= `<|${((id - first) * TIMESTAMP_STEP).toFixed(2)}|>`
  }
  return tokens
}

/** CTranslate2: a list in the order of the ids. */
function readList(folder: string): readonly string[] | undefined {
  const list = readJson<string[]>(join(folder, 'vocabulary.json'))
  if (Array.isArray(list)) return list as string[]
  const text = join(folder, 'vocabulary.txt')
  if (!existsSync(text)) return undefined
  return readFileSync(text, 'utf8').replace(/\n$/, '').split('\n')
}

/** Hugging Face: ids by token, the special tokens apart. */
function readMaps(folder: string): (string | undefined)[] | undefined {
  const { model, added_tokens: special = [] } = readJson<Tokenizer>(join(folder, 'tokenizer.json'))
  const maps = [
    model?.vocab ?? {},
    readJson<Record<string, number>>(join(folder, 'vocab.json')),
    readJson<Record<string, number>>(join(folder, 'added_tokens.json')),
  ]
  const tokens: (string | undefined)[] = []
  for (const map of maps) for (const [token, id] of Object.entries(map)) tokens[Number(id)] = token
  for (const { id, content } of special) tokens[id] = content
  return tokens.length > 0 ? tokens : undefined
}

/** Returns what a JSON file holds; nothing when it is missing. */
export function readJson<T>(file: string): Partial<T> {
  if (!existsSync(file)) return {}
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<T>
  } catch (cause) {
    throw new WeightFileError(`${file} is not JSON`, { cause })
  }
}
