import { mean } from '../../../../numbers.ts'
import { findRepetition } from '../../../recognition/decoding/repetition.ts'
import type { DecoderOutput, EncodedAudio, WhisperDecoder, WhisperNetwork } from '../network.ts'
import type { WhisperConfig } from '../whisper-config.ts'

/** Whether the text is written in the spoken language, or translated into English. */
export type WhisperTask = 'transcribe' | 'translate'

/**
 * What the first decoder step detects: the probability that there is no speech, and the probability
 * of each language.
 */
export type Detection = {
  noSpeech: number
  /**
   * Probabilities of all languages of the model; they add up to 1. Empty for English-only models.
   */
  languages: ReadonlyMap<string, number>
}

/** One segment to decode. */
export type WhisperRequest = {
  /** The index of the segment in the encoded audio. */
  segmentIndex: number
  /** Encoder frames (20 ms) of the segment that hold audio; the others are padding. */
  frames: number
  language: string
  maxTokens: number
  /** 0 takes the likeliest token each time. */
  temperature: number
  /** The seed of the random numbers that are used above temperature 0. */
  seed: number
}

/** The decoded text of a segment. */
export type WhisperDecoding = {
  tokens: number[]
  /** Natural logarithm of each token's probability, including the end token's. */
  logProbs: number[]
  /**
   * One row per token, including the end token: attention of each alignment head over `frames`.
   */
  attention: Float32Array[]
  frames: number
  /** The model ended the text, the text grew too long for the audio, or it looped. */
  stopReason: 'end' | 'cap' | 'loop'
}

/** What all segments of a batch share. */
export type DecodeOptions = {
  /** Tokens before the text, as if they had been recognized. */
  prompt: readonly number[]
  task: WhisperTask
  signal: AbortSignal
}

/** Detects the language of each segment, and whether it holds speech, in one decoder step. */
export async function detectLanguage(
  network: WhisperNetwork,
  audio: EncodedAudio,
): Promise<Detection[]> {
  const { vocabulary, languages, tokens } = network.config
  const items = [...audio.frames.keys()]
  const decoder = network.decoder(audio, items)
  const { logits } = await decoder.step(
    items.map(() => [tokens.start]),
    { lastOnly: true },
  )
  decoder.close()
  return items.map((i) => {
    const row = logits.subarray(i * vocabulary, (i + 1) * vocabulary)
    const codes = Object.keys(languages)
    const shares = softmax(codes.map((code) => row[languages[code]!]!))
    return {
      noSpeech: Math.exp(row[tokens.noSpeech]! - logSumExp(row)),
      languages: new Map(codes.map((code, at) => [code, shares[at]!])),
    }
  })
}

/** Decodes several segments together; they do not affect each other. */
export async function decodeBatch(
  network: WhisperNetwork,
  audio: EncodedAudio,
  requests: readonly WhisperRequest[],
  options: DecodeOptions,
): Promise<WhisperDecoding[]> {
  const { config } = network
  const decoder = network.decoder(
    audio,
    requests.map(({ segmentIndex }) => segmentIndex),
  )
  const all = requests.map((request) => openRow(request))
  const choose = createTokenSampler(config)
  let rows = all
  let read = requests.map(({ language }) => prefixOf(config, language, options))
  try {
    while (rows.length > 0) {
      options.signal.throwIfAborted()
      const output = await decoder.step(read, { attention: true, lastOnly: true })
      for (const [i, row] of rows.entries()) {
        if (row.isOpen) advanceRow(row, choose, { output, i, inputTokens: read[0]!.length, config })
      }
      // Ended rows stay until half the batch has ended: copying the caches costs about a step.
      const open = rows.flatMap((row, i) => (row.isOpen ? [i] : []))
      if (open.length <= rows.length / 2) {
        if (open.length > 0) decoder.keep(open)
        rows = open.map((i) => rows[i]!)
      }
      read = rows.map(({ decoding }) => [decoding.tokens.at(-1) ?? config.tokens.end])
    }
  } finally {
    decoder.close()
  }
  return all.map(({ decoding }) => decoding)
}

/** A draft to check against the model. */
export type Draft = WhisperRequest & { tokens: readonly number[] }

/**
 * Decodes one segment from a draft of the beginning of its text: verifies the draft in one call and
 * keeps the tokens that the model would have chosen itself, so the text is that of `decodeBatch`.
 */
export async function decodeDraft(
  network: WhisperNetwork,
  audio: EncodedAudio,
  draft: Draft,
  options: DecodeOptions,
): Promise<WhisperDecoding> {
  if (draft.tokens.length === 0) return (await decodeBatch(network, audio, [draft], options))[0]!
  const { config } = network
  const prefix = prefixOf(config, draft.language, options)
  const guessed = draft.tokens.slice(0, draft.maxTokens)
  const decoder = network.decoder(audio, [draft.segmentIndex])
  const row = openRow(draft)
  const choose = createTokenSampler(config)
  try {
    let output = await decoder.step([prefix], { attention: true, lastOnly: true })
    advanceRow(row, choose, { output, i: 0, inputTokens: prefix.length, config })
    let kept = 0
    if (row.isOpen && row.decoding.tokens[0] === guessed[0]) {
      output = await decoder.step([guessed], { attention: true })
      for (; row.isOpen && row.decoding.tokens[kept] === guessed[kept]; kept++) {
        advanceRow(row, choose, { output, i: 0, inputTokens: guessed.length, at: kept, config })
      }
      if (kept < guessed.length && row.isOpen) return await startAgain()
    }
    await finish(decoder, row, [row.decoding.tokens.at(-1)!])
    return row.decoding
  } finally {
    decoder.close()
  }

  /** Reads the accepted tokens into a new cache, since the old one holds rejected tokens. */
  async function startAgain(): Promise<WhisperDecoding> {
    const fresh = network.decoder(audio, [draft.segmentIndex])
    try {
      await finish(fresh, row, [...prefix, ...row.decoding.tokens])
    } finally {
      fresh.close()
    }
    return row.decoding
  }

  async function finish(decoder: WhisperDecoder, row: Row, first: number[]): Promise<void> {
    for (let read = first; row.isOpen; read = [row.decoding.tokens.at(-1)!]) {
      options.signal.throwIfAborted()
      const output = await decoder.step([read], { attention: true, lastOnly: true })
      advanceRow(row, choose, { output, i: 0, inputTokens: read.length, config })
    }
  }
}

/** The mean over the tokens of a text and its end. */
export function meanLogProbability({ logProbs }: Pick<WhisperDecoding, 'logProbs'>): number {
  return mean(logProbs)
}

/** Returns the tokens before a text. */
export function prefixOf(
  { tokens, languages, multilingual }: WhisperConfig,
  language: string,
  { prompt, task }: DecodeOptions,
): number[] {
  const before = prompt.length > 0 ? [tokens.startOfPrevious, ...prompt] : []
  const languageToken = languages[language]
  const languageAndTask =
    multilingual && languageToken !== undefined ? [languageToken, tokens[task]] : []
  return [...before, tokens.start, ...languageAndTask, tokens.noTimestamps]
}

type Row = {
  request: WhisperRequest
  decoding: WhisperDecoding
  random: () => number
  isOpen: boolean
}

function openRow(request: WhisperRequest): Row {
  const { frames } = request
  const decoding: WhisperDecoding = {
    tokens: [],
    logProbs: [],
    attention: [],
    frames,
    stopReason: 'end',
  }
  return { request, decoding, random: randomNumbers(request.seed), isOpen: true }
}

type Advance = {
  output: DecoderOutput
  /** The row of the batch. */
  i: number
  /**
   * Tokens that the call read of each row, and the index of the one to continue from; default: the
   * last.
   */
  inputTokens: number
  at?: number
  config: WhisperConfig
}

/** Chooses the next token of a row and closes the row when it has ended. */
function advanceRow(
  row: Row,
  choose: TokenSampler,
  { output, i, inputTokens, at, config }: Advance,
): void {
  const { decoding, request } = row
  const { vocabulary, alignmentHeads, tokens } = config
  const from = (i * output.tokens + (output.tokens === 1 ? 0 : (at ?? 0))) * vocabulary
  const isFirst = decoding.tokens.length === 0
  const { token, logProb } = choose(output.logits.subarray(from, from + vocabulary), {
    isFirst,
    temperature: request.temperature,
    random: row.random,
  })
  decoding.logProbs.push(logProb)
  const shape = { heads: alignmentHeads.length, inputTokens, frames: output.frames }
  decoding.attention.push(
    attentionRow(
      output.attention!,
      { ...shape, row: i, token: at ?? inputTokens - 1 },
      decoding.frames,
    ),
  )
  if (token === tokens.end) {
    row.isOpen = false
    return
  }
  decoding.tokens.push(token)
  const loop = findRepetition(decoding.tokens)
  if (loop !== undefined) {
    decoding.tokens.length = loop
    decoding.logProbs.length = decoding.attention.length = loop + 1
  }
  if (loop === undefined && decoding.tokens.length < request.maxTokens) return
  decoding.stopReason = loop === undefined ? 'cap' : 'loop'
  row.isOpen = false
}

type TokenSampler = (
  logits: Float32Array,
  options: { isFirst: boolean; temperature: number; random: () => number },
) => { token: number; logProb: number }

/**
 * Returns masks over the vocabulary: 1 marks tokens that are not text, and those that cannot begin
 * a text.
 */
export function createTokenMasks({
  vocabulary,
  tokens,
  suppressed,
  suppressedAtBegin,
}: WhisperConfig): { nonText: Uint8Array; atBegin: Uint8Array } {
  const nonText = new Uint8Array(vocabulary).fill(1, tokens.end + 1)
  for (const token of suppressed) nonText[token] = 1
  const atBegin = nonText.slice()
  for (const token of suppressedAtBegin) atBegin[token] = 1
  return { nonText, atBegin }
}

/**
 * Creates the sampler of text tokens: it takes the likeliest one, or a random one at a temperature.
 * Probabilities are those among the allowed tokens at temperature 1.
 */
function createTokenSampler(config: WhisperConfig): TokenSampler {
  const { tokens } = config
  const masks = createTokenMasks(config)

  return (logits, { isFirst, temperature, random }) => {
    const masked = isFirst ? masks.atBegin : masks.nonText
    let best = tokens.end
    let max = Number.NEGATIVE_INFINITY
    for (let id = 0; id <= tokens.end; id++) {
      const value = logits[id]!
      if (value > max && !masked[id]) [best, max] = [id, value]
    }
    const sum = (atTemperature: number, stopAt = Number.POSITIVE_INFINITY) => {
      let total = 0
      for (let id = 0; id <= tokens.end; id++) {
        // Tokens e^-20 times as likely as the best are ignored.
        const below = (logits[id]! - max) / atTemperature
        if (below < -20 || masked[id]) continue
        total += Math.exp(below)
        if (total >= stopAt) return { total, id }
      }
      return { total, id: best }
    }
    const { total } = sum(1)
    const token = temperature === 0 ? best : sum(temperature, random() * sum(temperature).total).id
    return { token, logProb: logits[token]! - max - Math.log(total) }
  }
}

type AttentionAt = {
  heads: number
  inputTokens: number
  frames: number
  row: number
  token: number
}

/**
 * Copies the attention of one token to the frames that hold audio, scaled to a sum of 1 per head.
 */
export function attentionRow(
  attention: Float32Array,
  { heads, inputTokens, frames, row, token }: AttentionAt,
  audioFrames: number,
): Float32Array {
  const copy = new Float32Array(heads * audioFrames)
  for (let head = 0; head < heads; head++) {
    const from = ((row * heads + head) * inputTokens + token) * frames
    let sum = 0
    for (let t = 0; t < audioFrames; t++) sum += attention[from + t]!
    for (let t = 0; t < audioFrames; t++)
      copy[head * audioFrames + t] = attention[from + t]! / (sum || 1)
  }
  return copy
}

function logSumExp(values: Float32Array): number {
  let max = Number.NEGATIVE_INFINITY
  for (const value of values) max = Math.max(max, value)
  let sum = 0
  for (const value of values) sum += Math.exp(value - max)
  return max + Math.log(sum)
}

function softmax(values: readonly number[]): number[] {
  const max = Math.max(...values)
  const powers = values.map((value) => Math.exp(value - max))
  const sum = powers.reduce((a, b) => a + b, 0)
  return powers.map((value) => value / sum)
}

/** Random numbers from 0 to 1, the same ones for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
