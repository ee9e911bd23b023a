import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { asFields, isCount } from '../../../model-files/weight-files/fields.ts'
import { WeightFileError } from '../../../model-files/weight-files/weight-file-error.ts'

type Tokenizer = { model: unknown; added_tokens: unknown }

/** Timestamps go up by 20 ms from `<|0.00|>`, the token after `<|notimestamps|>`. */
const TIMESTAMP_STEP = 0.02

/**
 * Returns the tokens of a model by id, in the byte-level form of the vocabulary (`Ġthe`), from
 * whichever files the folder has. Timestamps that no file names are named; other ids without a name
 * get an empty text. Throws `WeightFileError` when there is no vocabulary.
 */
export function readVocabulary(folder: string, size: number): string[] {
  const named = readList(folder) ?? readMaps(folder, size)
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
  const list: unknown = readModelJson(join(folder, 'vocabulary.json'))
  if (Array.isArray(list)) return list.filter((token) => typeof token === 'string')
  const text = join(folder, 'vocabulary.txt')
  if (!existsSync(text)) return undefined
  return readFileSync(text, 'utf8').replace(/\n$/, '').split('\n')
}

/** Hugging Face: ids by token, the special tokens apart. */
function readMaps(folder: string, size: number): string[] | undefined {
  const tokenizer = readModelJson<Tokenizer>(join(folder, 'tokenizer.json'))
  const { vocab } = asFields(tokenizer.model)
  const maps = [
    vocab,
    readModelJson(join(folder, 'vocab.json')),
    readModelJson(join(folder, 'added_tokens.json')),
  ]
  const special = Array.isArray(tokenizer.added_tokens) ? tokenizer.added_tokens : []
  const tokens: string[] = []
  const name = (id: unknown, token: unknown) => {
    // Ids beyond the size of the model are never written by it.
    if (isCount(id) && id < size && typeof token === 'string') tokens[id] = token
  }
  for (const map of maps) for (const [token, id] of Object.entries(asFields(map))) name(id, token)
  for (const { id, content } of special.map(asFields)) name(id, content)
  return tokens.length > 0 ? tokens : undefined
}

/**
 * Returns the object that a JSON file holds, with fields of any kind; nothing when it is missing.
 */
export function readModelJson<T>(file: string): { [K in keyof T]?: unknown } {
  if (!existsSync(file)) return {}
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new WeightFileError(`${file} is not JSON`, { cause })
  }
  if (typeof value !== 'object' || value === null) {
    throw new WeightFileError(`${file} holds no object`)
  }
  return value
}
