import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { identifyLanguageSpans } from './language-spans.ts'

const SAMPLE_RATE = 16_000
const { signal } = new AbortController()
let folder: string

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'steno-languages-'))
})

after(() => rm(folder, { recursive: true }))

/** Seconds of speech in German (samples that alternate) and French (a slow wave). */
type Spoken = ['de' | 'fr', number][]

/** Identifies a file by the share of alternating samples, and counts the looks. */
async function identify(spoken: Spoken, { isMixed = true } = {}) {
  const samples = spoken.flatMap(([language, seconds]) => {
    const halfPeriod = language === 'de' ? 1 : 160
    return Array.from({ length: seconds * SAMPLE_RATE }, (_, i) => {
      return Math.floor(i / halfPeriod) % 2 === 0 ? 9000 : -9000
    })
  })
  const path = join(folder, 'speech.pcm')
  await writeFile(path, Int16Array.from(samples))
  const looks: { seconds: number; isRough: boolean }[] = []
  const recognizer = {
    id: 'shares',
    async identifyLanguage(audio: Float32Array, { isRough = false }: { isRough?: boolean }) {
      looks.push({ seconds: audio.length / SAMPLE_RATE, isRough })
      const isAlternating = (sample: number, i: number) => sample * (audio[i - 1] ?? 0) < 0
      const share = audio.filter(isAlternating).length / audio.length
      const found = [
        { language: 'de', probability: share },
        { language: 'fr', probability: 1 - share },
      ]
      return found.sort((a, b) => b.probability - a.probability)
    },
  }
  const detector = {
    detect: async (audio: Float32Array) => new Float32Array(audio.length / 512).fill(1),
  }
  const segments = [{ start: 0, end: samples.length }]
  const task = { path, segments, model: 'shares', languages: ['de', 'fr'], isMixed }
  const [spans] = await identifyLanguageSpans({ recognizer, detector }, task, signal)
  const found = spans!.map(({ start, end, probabilities: [best] }) => {
    return [best!.language, (end - start) / SAMPLE_RATE]
  })
  return { found, looks }
}

test('speech in one language is identified as a whole', async () => {
  const { found, looks } = await identify([['de', 12]])
  assert.deepEqual(found, [['de', 12]])
  assert.deepEqual(
    looks.filter(({ isRough }) => !isRough),
    [{ seconds: 12, isRough: false }],
  )
  assert.equal(looks.length, 5)
})

test('a change of language is located, and each part is identified separately', async () => {
  const { found } = await identify([
    ['de', 9],
    ['fr', 6],
  ])
  assert.deepEqual(
    found.map(([language]) => language),
    ['de', 'fr'],
  )
  assert.ok(Math.abs((found[0]![1] as number) - 9) < 1.2, `${found}`)
})

test('if languages cannot change, the middle of long speech decides for all of it', async () => {
  const { found, looks } = await identify([['fr', 25]], { isMixed: false })
  assert.deepEqual(found, [['fr', 25]])
  assert.deepEqual(looks, [{ seconds: 15, isRough: false }])
})
