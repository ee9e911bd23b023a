import type { WindowEmbedding } from '../../../src/asr/speakers/embedding/embedders/embedder.ts'
import { diarizationGrid, speechRegions } from '../../../src/asr/speakers/embedding/regions.ts'
import { slidingWindows } from '../../../src/asr/speakers/embedding/windows.ts'
import { SAMPLE_RATE } from '../../../src/audio/pcm.ts'
import type { Word } from '../../../src/transcript/transcript.ts'

const DIMENSION = 128
/**
 * Parts of an embedding: one common to all speakers, one per speaker, and noise; cosines are then
 * about 0.14, and 0.5 within a speaker.
 */
const [COMMON, VOICE, NOISE] = [Math.sqrt(0.14), 0.6, Math.sqrt(0.5)]

/** Repeatable random numbers, about normal with the variance of a direction. */
function noise(seed: number): Float64Array {
  let state = seed * 2654435761 + 12345
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  for (let i = 0; i < 10; i++) next()
  return Float64Array.from({ length: DIMENSION }, () => {
    return (next() + next() + next() - 1.5) * 2 * Math.sqrt(1 / DIMENSION)
  })
}

function directionOf(speaker: string): Float64Array {
  return noise(1000 + speaker.charCodeAt(0))
}

/**
 * The embedding of a window in which each speaker has a share; equal seeds give equal embeddings.
 */
export function embeddingOf(shares: Record<string, number>, seed: number): Float32Array {
  const parts = Object.entries(shares).map(([speaker, share]) => ({
    share,
    at: directionOf(speaker),
  }))
  const [common, chance] = [noise(1), noise(10_000 + seed)]
  const sum = Float64Array.from(common, (x, d) => {
    const embeddings = parts.reduce((total, { share, at }) => total + share * at[d]!, 0)
    return COMMON * x + VOICE * embeddings + NOISE * chance[d]!
  })
  const length = Math.hypot(...sum)
  return Float32Array.from(sum, (x) => x / length)
}

/** Words of one channel, their speakers, and their windows. */
export type Dialogue = { words: Word[]; speakers: string; windows: WindowEmbedding[] }

/**
 * A talk in letters: each is a word of 0.3 s by the speaker of that name, followed by 0.1 s; a
 * blank is a pause of half a second, a period ends the sentence of the word before. `seed` makes it
 * another recording.
 */
export function createDialogue(letters: string, { seed = 0 }: { seed?: number } = {}): Dialogue {
  const words: Word[] = []
  let at = 1
  for (const letter of letters) {
    if (letter === ' ') at += 0.5
    else if (letter === '.') words.at(-1)!.text += '.'
    else {
      words.push({ text: `${letter}${words.length}`, start: at, end: at + 0.3, confidence: 1 })
      at += 0.4
    }
  }
  const regions = speechRegions(words, (at + 1) * SAMPLE_RATE)
  const windows = regions.flatMap((region) => slidingWindows(region, diarizationGrid))
  return {
    words,
    speakers: words.map(({ text }) => text[0]).join(''),
    windows: windows.map((window, i) => {
      return { ...window, embedding: embeddingOf(sharesIn(window, words), seed * 100_000 + i) }
    }),
  }
}

function sharesIn({ start, end }: { start: number; end: number }, words: readonly Word[]) {
  const shares: Record<string, number> = {}
  let total = 0
  for (const word of words) {
    const from = Math.max(word.start, start / SAMPLE_RATE)
    const shared = Math.min(word.end, end / SAMPLE_RATE) - from
    if (shared <= 0) continue
    shares[word.text[0]!] = (shares[word.text[0]!] ?? 0) + shared
    total += shared
  }
  for (const speaker of Object.keys(shares)) shares[speaker]! /= total
  return shares
}

/** Speakers as letters in order of first appearance: 0, 1, 0 becomes `aba`. */
export function inLetters(embeddings: readonly number[]): string {
  const order = [...new Set(embeddings)]
  return embeddings.map((speaker) => String.fromCharCode(97 + order.indexOf(speaker))).join('')
}
