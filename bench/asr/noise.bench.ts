/**
 * Measures word errors of speech in noise: mixes each recording of the group `read` of a corpus
 * with babble (five other recordings of it), pink noise and music (its recordings whose id begins
 * with "music"), at 0, 5 or 10 dB, the same in every run. Without music, there are two kinds of
 * noise.
 */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSpeechEngine } from '../../src/asr/create-speech-engine.ts'
import { readSamples } from '../../src/asr/segmentation/read-samples.ts'
import type { PcmFile } from '../../src/asr/speech-engine.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/observability/log.ts'
import { wordErrors } from '../../test/support/asr/word-errors.ts'
import { createRandom } from '../../test/support/random/random.ts'
import { decodeCorpus, readCorpus } from '../support/corpus.ts'
import { report } from '../support/report.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { transcribe } from './transcribe.ts'

/** Signal-to-noise ratios, in decibels. */
const RATIOS = [0, 5, 10]
const VOICES = 5
const MAX_PEAK = 0.95

type Sounds = { speech: readonly Float32Array[]; music: readonly Float32Array[] }
type NoiseKind = 'babble' | 'pink' | 'music'
/** `index` is that of the recording it is mixed with, and `length` the number of its samples. */
type MakeNoise = (mixed: { index: number; length: number }, sounds: Sounds) => Float32Array

const random = createRandom(1)

const noises: Record<NoiseKind, MakeNoise> = {
  babble({ index, length }, { speech }) {
    const sum = new Float32Array(length)
    for (let voice = 0; voice < VOICES; voice++) {
      const other = speech[(index + 7 + voice * 13) % speech.length]!
      const excerpt = repeat(other, length, Math.floor(random() * 1e5))
      const level = levelOf(excerpt)
      for (let i = 0; i < length; i++) sum[i]! += excerpt[i]! / level
    }
    return sum
  },
  pink: ({ length }) => pinkNoise(length),
  music: ({ index, length }, { music }) =>
    repeat(music[index % music.length]!, length, Math.floor(random() * 1e6)),
}

const { models, workers } = readConfig({})
const { name, recordings } = await readCorpus()
const isMusic = (id: string) => id.startsWith('music')
const isSpeech = (group: string) => group === 'read' || name === 'fixtures'
const used = recordings.filter(({ id, group, transcript }) => {
  return isMusic(id) || (transcript && isSpeech(group))
})
const { decoded, dispose } = await decodeCorpus(used)
const samplesOf = ({ path, samples }: PcmFile) => readSamples(path, 0, samples)
const spoken = [...decoded].filter(([{ id }]) => !isMusic(id))
const sounds: Sounds = {
  speech: spoken.map(([, pcm]) => samplesOf(pcm)),
  music: [...decoded].filter(([{ id }]) => isMusic(id)).map(([, pcm]) => samplesOf(pcm)),
}
const kinds = (['babble', 'pink', 'music'] as const).filter((kind) => {
  return kind !== 'music' || sounds.music.length > 0
})
const engine = createSpeechEngine({ folder: models.folder, workers, log: createLog('warn') })
await engine.checkReady({ signal: new AbortController().signal })
const folder = await temporaryFolder()
const path = join(folder, 'mixed.pcm')

const counted = new Map<string, { errors: number; words: number }>()
for (const [index, [{ transcript }]] of spoken.entries()) {
  for (const [k, kind] of kinds.entries()) {
    const ratio = RATIOS[(index + k) % RATIOS.length]!
    const speech = sounds.speech[index]!
    const noise = noises[kind]({ index, length: speech.length }, sounds)
    const mixed = mix(speech, noise, ratio)
    await writeFile(path, toPcm(mixed))
    const { words } = await transcribe(engine, { path, samples: mixed.length })
    const text = words.map((word) => word.text).join(' ')
    const { errors, referenceWords } = wordErrors(transcript!, text)
    for (const group of [`${kind} at ${ratio} dB`, kind, 'all']) {
      const count = counted.get(group) ?? { errors: 0, words: 0 }
      counted.set(group, { errors: count.errors + errors, words: count.words + referenceWords })
    }
  }
}
await engine.close()
await dispose()
await rm(folder, { recursive: true })
for (const [group, { errors, words }] of [...counted].sort())
  report({ bench: 'noise', corpus: name, group, words, errors, wer: errors / words })

/** Adds noise to speech at a ratio of their levels in decibels. */
function mix(speech: Float32Array, noise: Float32Array, ratio: number): Float32Array {
  const gain = levelOf(speech) / levelOf(noise) / 10 ** (ratio / 20)
  return speech.map((sample, i) => sample + noise[i]! * gain)
}

/** Returns 16-bit samples, quieter where they would be clipped. */
function toPcm(samples: Float32Array): Uint8Array {
  const peak = samples.reduce((max, sample) => Math.max(max, Math.abs(sample)), 0)
  const gain = peak > MAX_PEAK ? MAX_PEAK / peak : 1
  return new Uint8Array(Int16Array.from(samples, (x) => Math.round(x * gain * 32_767)).buffer)
}

function levelOf(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length)
}

function repeat(samples: Float32Array, length: number, offset: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => samples[(i + offset) % samples.length]!)
}

/** Filters white noise to -3 dB per octave (Paul Kellet's economy filter with six poles). */
function pinkNoise(length: number): Float32Array {
  const poles = [0.99886, 0.99332, 0.969, 0.8665, 0.55, -0.7616]
  const gains = [0.0555179, 0.0750759, 0.153852, 0.3104856, 0.5329522, -0.016898]
  const states = poles.map(() => 0)
  return Float32Array.from({ length }, () => {
    const white = random() * 2 - 1
    for (const [i, pole] of poles.entries()) states[i] = pole * states[i]! + gains[i]! * white
    return states.reduce((sum, value) => sum + value) + white * 0.5362
  })
}
