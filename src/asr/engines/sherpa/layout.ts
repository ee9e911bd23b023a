import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOnnxMetadata } from '../../onnx/onnx-metadata.ts'

/** The kinds of models of the sherpa-onnx project that we run, by how they are set up there. */
export type SherpaFamily =
  | 'sense-voice'
  | 'nemo-ctc'
  | 'zipformer-ctc'
  | 'dolphin'
  | 'fire-red'
  | 'canary'
  | 'transducer'
  | 'nemo-transducer'
  | 'streaming-transducer'

/** A model as the sherpa-onnx project exports it. */
export type SherpaLayout = {
  family: SherpaFamily
  /** The files of the networks by their part, and all that they need, by name. */
  parts: { model?: string; encoder?: string; decoder?: string; joiner?: string }
  tokens: string
  /** The `bpe.vocab` file, which splits words into tokens, if the folder has one. */
  bpeVocabulary?: string
  files: readonly string[]
}

/** The largest vocabularies have some 200,000. */
const MAX_TOKENS = 1_000_000
/** Weights beside a graph. */
const WEIGHTS = /\.(weights|data|onnx_data)$/

/**
 * Identifies the model in a folder from its file names (`tokens.txt`, and `model.onnx`, or
 * `encoder`, `decoder` and `joiner`) and the metadata of the networks; 8-bit networks are
 * preferred. Reads synchronously. Throws `Error` that says what the folder lacks.
 */
export function readSherpaLayout(folder: string): SherpaLayout {
  const names = readdirSync(folder).sort()
  const tokens = names.find((name) => /(^|-)tokens\.txt$/.test(name))
  if (!tokens) throw new Error('a model of sherpa-onnx needs its tokens.txt')
  const networks = names.filter((name) => name.endsWith('.onnx'))
  const prefer = (candidates: readonly string[]) => {
    return candidates.find((name) => name.includes('int8')) ?? candidates[0]
  }
  const named = (part: string) => prefer(networks.filter((name) => name.includes(part)))
  const [encoder, decoder, joiner] = ['encoder', 'decoder', 'joiner'].map(named)
  const model = encoder === undefined ? prefer(networks) : undefined
  const main = encoder ?? model
  if (main === undefined) throw new Error('a model of sherpa-onnx needs its .onnx files')
  const metadata = readOnnxMetadata(join(folder, main))
  const family = familyOf(metadata, {
    isAlone: model !== undefined,
    hasJoiner: joiner !== undefined,
  })
  if (!family) {
    const type = metadata.get('model_type') ?? 'none'
    throw new Error(`${main} is not a model that Steno runs: its metadata has model_type ${type}`)
  }
  if (!model && !decoder) throw new Error('the model lacks its decoder')
  const parts = {
    ...(model !== undefined && { model }),
    ...(encoder !== undefined && { encoder }),
    ...(encoder !== undefined && decoder !== undefined && { decoder }),
    ...(encoder !== undefined && joiner !== undefined && { joiner }),
  }
  const bpeVocabulary = names.find((name) => name.endsWith('bpe.vocab'))
  const extra = [tokens, ...(bpeVocabulary === undefined ? [] : [bpeVocabulary])]
  const weights = names.filter((name) => WEIGHTS.test(name))
  return {
    family,
    parts,
    tokens,
    ...(bpeVocabulary !== undefined && { bpeVocabulary }),
    files: [...Object.values(parts), ...extra, ...weights],
  }
}

/**
 * Returns the family by the metadata that the exports of sherpa-onnx write; for NeMo models,
 * `model_type` is the name of the class.
 */
function familyOf(
  metadata: ReadonlyMap<string, string>,
  { isAlone, hasJoiner }: { isAlone: boolean; hasJoiner: boolean },
): SherpaFamily | undefined {
  const type = metadata.get('model_type') ?? ''
  if (isAlone) {
    if (metadata.has('lang_auto')) return 'sense-voice'
    if (type === 'zipformer2_ctc') return 'zipformer-ctc'
    if (metadata.has('mean') && metadata.has('invstd')) return 'dolphin'
    const isCtc = /^EncDec(CTC|HybridRNNTCTC)/.test(type)
    return isCtc && !metadata.has('window_size') ? 'nemo-ctc' : undefined
  }
  if (!hasJoiner) {
    if (type === 'EncDecMultiTaskModel') return 'canary'
    return metadata.has('cmvn_mean') && metadata.has('sos') ? 'fire-red' : undefined
  }
  const isStreaming = metadata.has('decode_chunk_len') || metadata.has('chunk_shift')
  if (isStreaming) return 'streaming-transducer'
  if (/^EncDec(RNNT|HybridRNNT)/.test(type)) return 'nemo-transducer'
  return /^(conformer|zipformer2?)$/.test(type) ? 'transducer' : undefined
}

/** Reads the token list: the pieces by token, with a space at the start of a word. */
export function readTokenList(file: string): string[] {
  const pieces: string[] = []
  for (const line of readFileSync(file, 'utf8').split(/\r?\n/)) {
    const cut = line.lastIndexOf(' ')
    if (cut < 0) continue
    const token = Number(line.slice(cut + 1))
    if (!(Number.isInteger(token) && token >= 0 && token < MAX_TOKENS)) continue
    pieces[token] = line.slice(0, cut).replaceAll('\u2581', ' ') || ' '
  }
  return Array.from(pieces, (piece) => piece ?? '')
}
