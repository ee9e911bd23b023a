import assert from 'node:assert/strict'
import { test } from 'node:test'
import { moonshineThresholds } from '../engines/moonshine/capabilities.ts'
import type { Recognition, Recognizer } from '../engines/recognizer.ts'
import { quietestPoint, recognizeWithRepair } from './recognize-with-repair.ts'

const { signal } = new AbortController()
const options = { language: undefined, languages: [], vocabulary: [], signal }
const second = 16_000

type Response = Partial<Recognition> & { text?: string }

/** A recognizer that responds from a script and records each call. */
function scripted(...script: Response[]) {
  const capabilities = { languages: ['en'], wordTimes: true, maxSeconds: 30, vocabulary: false }
  const requested: { seconds: number; forceNonEmpty: boolean }[] = []
  const vocabularies: (readonly string[])[] = []
  const recognizer: Pick<Recognizer, 'recognize' | 'capabilities' | 'thresholds'> = {
    capabilities,
    thresholds: moonshineThresholds,
    async recognize(segments, { forceNonEmpty = false, vocabulary }) {
      return segments.map((audio) => {
        vocabularies.push(vocabulary)
        requested.push({ seconds: audio.length / second, forceNonEmpty })
        const { text = '', ...rest } = script.shift() ?? {}
        const words = text
          .split(' ')
          .filter(Boolean)
          .map((word, i) => {
            return { text: word, start: i * 0.4, end: i * 0.4 + 0.3, confidence: 0.9 }
          })
        return {
          words,
          language: 'en',
          logProbability: -0.1,
          complete: true,
          warnings: [],
          ...rest,
        }
      })
    },
  }
  return { recognizer, requested, vocabularies }
}

/**
 * A VAD that detects speech as in `voice` (one character per 32 ms, `#` is speech) in every piece.
 */
function detectorOf(speechProbabilities: string) {
  return {
    detect: async () => Float32Array.from(speechProbabilities, (c) => (c === '#' ? 0.95 : 0.05)),
    close: async () => {},
  }
}

const speech = detectorOf('#'.repeat(300))
const silence = detectorOf('.'.repeat(300))

function textOf(words: readonly { text: string }[]): string {
  return words.map((word) => word.text).join(' ')
}

test('a confident result is used as it is', async () => {
  const { recognizer, requested } = scripted({ text: 'hello there' })
  const [recognized] = await recognizeWithRepair(
    { recognizer, detector: speech },
    [new Float32Array(second)],
    options,
  )
  assert.equal(textOf(recognized!.words), 'hello there')
  assert.equal(requested.length, 1)
})

test('words that take next to no time count only where there is enough speech', async () => {
  const recognize = async (seconds: number, voice: string) => {
    const words = [{ text: 'You', start: 0.3, end: 0.3 + seconds, confidence: 0.4 }]
    const { recognizer } = scripted({ words })
    const models = { recognizer, detector: detectorOf(voice) }
    const [recognized] = await recognizeWithRepair(models, [new Float32Array(second / 2)], options)
    return textOf(recognized!.words)
  }
  // A sound that begins, such as music.
  assert.equal(await recognize(0.05, '......###......'), '')
  assert.equal(await recognize(0.05, '..#############'), 'You')
  assert.equal(await recognize(0.16, '......###......'), 'You')
})

test('long speech with almost no words is recognized again in halves', async () => {
  const counting = 'one two three four five'
  const recognize = async (...responses: string[]) => {
    const { recognizer } = scripted(...responses.map((text) => ({ text })))
    const piece = new Float32Array(9 * second)
    const models = { recognizer, detector: speech }
    const [recognized] = await recognizeWithRepair(models, [piece], options)
    return textOf(recognized!.words)
  }
  const found = await recognize('thanks for watching', counting, counting)
  assert.equal(found, `${counting} ${counting}`)
  assert.equal(await recognize('thanks for watching', 'music', ''), 'thanks for watching')
})

test('empty speech is recognized again with forced output, kept if it is likely', async () => {
  const { recognizer, requested } = scripted({}, { text: 'one zero', logProbability: -0.4 })
  const [recognized] = await recognizeWithRepair(
    { recognizer, detector: speech },
    [new Float32Array(2 * second)],
    options,
  )
  assert.equal(textOf(recognized!.words), 'one zero')
  assert.deepEqual(requested, [
    { seconds: 2, forceNonEmpty: false },
    { seconds: 2, forceNonEmpty: true },
  ])
})

test('a forced result of low probability is dropped and counted as uncovered', async () => {
  const { recognizer } = scripted({}, { text: 'something else', logProbability: -1.2 })
  const voiced = detectorOf('#'.repeat(62))
  const [recognized] = await recognizeWithRepair(
    { recognizer, detector: voiced },
    [new Float32Array(2 * second)],
    options,
  )
  assert.equal(recognized!.words.length, 0)
  assert.ok(recognized!.uncovered > 1.9)
})

test('speech that stays empty is recognized again in halves, kept if they are likely', async () => {
  const halves = [{ text: 'one zero' }, { text: 'two four' }]
  const { recognizer } = scripted({}, { text: 'a guess', logProbability: -1.2 }, ...halves)
  const models = { recognizer, detector: detectorOf('#'.repeat(125)) }
  const [recognized] = await recognizeWithRepair(models, [new Float32Array(4 * second)], options)
  assert.equal(textOf(recognized!.words), 'one zero two four')
  const unlikely = halves.map((half) => ({ ...half, logProbability: -1.2 }))
  const guesses = scripted({}, { text: 'a guess', logProbability: -1.2 }, ...unlikely)
  const [again] = await recognizeWithRepair(
    { ...models, recognizer: guesses.recognizer },
    [new Float32Array(4 * second)],
    options,
  )
  assert.equal(again!.words.length, 0)
  assert.ok(again!.uncovered > 3.9)
})

test('a long number covers the time that its digits may take', async () => {
  const { recognizer, requested } = scripted({ text: '801-715-0827' })
  const models = { recognizer, detector: speech }
  const [recognized] = await recognizeWithRepair(models, [new Float32Array(5.5 * second)], options)
  assert.equal(textOf(recognized!.words), '801-715-0827')
  assert.equal(requested.length, 1)
})

test('speech with pauses and no words is recognized again without the pauses', async () => {
  const { recognizer, requested } = scripted({ text: '' }, { text: 'one two' })
  const detector = detectorOf(`${'#'.repeat(20)}${'.'.repeat(20)}${'#'.repeat(22)}`)
  const models = { recognizer, detector }
  const [recognized] = await recognizeWithRepair(models, [new Float32Array(2 * second)], options)
  assert.equal(textOf(recognized!.words), 'one two')
  assert.ok(requested[1]!.seconds < 1.6)
  assert.equal(requested[1]!.forceNonEmpty, false)
})

test('silence is not recognized again', async () => {
  const { recognizer, requested } = scripted({})
  const [recognized] = await recognizeWithRepair(
    { recognizer, detector: silence },
    [new Float32Array(2 * second)],
    options,
  )
  assert.deepEqual(recognized, { words: [], language: 'en', uncovered: 0, warnings: [] })
  assert.equal(requested.length, 1)
})

test('low-probability words without detected voice are dropped', async () => {
  const { recognizer } = scripted({ text: 'thank you', logProbability: -1.5 })
  const [recognized] = await recognizeWithRepair(
    { recognizer, detector: silence },
    [new Float32Array(second)],
    options,
  )
  assert.equal(recognized!.words.length, 0)
})

test('looping text is recognized again in halves', async () => {
  const { recognizer, requested } = scripted(
    { text: 'a a a', complete: false },
    { text: 'left half' },
    { text: 'right' },
  )
  const [recognized] = await recognizeWithRepair(
    { recognizer, detector: silence },
    [new Float32Array(4 * second)],
    options,
  )
  assert.equal(textOf(recognized!.words), 'left half right')
  assert.equal(requested.length, 3)
  assert.ok(recognized!.words.at(-1)!.start >= 1)
})

test('a voiced gap between words is recognized separately', async () => {
  const { recognizer, requested } = scripted({ text: 'start' }, { text: 'missing words' })
  const [recognized] = await recognizeWithRepair(
    { recognizer, detector: speech },
    [new Float32Array(3 * second)],
    options,
  )
  assert.equal(textOf(recognized!.words), 'start missing words')
  assert.ok(Math.abs(requested[1]!.seconds - 2.7) < 0.01)
  assert.ok(recognized!.words[1]!.start >= 0.3)
})

test('a phrase squeezed into a few frames is recognized again in its place, once', async () => {
  const cramped = ['Good', 'morning,', 'Steve.'].map((text, i) => {
    return { text, start: 0.5 + i * 0.02, end: 0.51 + i * 0.02, confidence: 0.9 }
  })
  const hello = { text: 'Hello.', start: 0.1, end: 0.5, confidence: 0.9 }
  const { recognizer, requested } = scripted(
    { words: [hello, ...cramped] },
    { text: 'Good morning, Steve.' },
  )
  const models = { recognizer, detector: speech }
  const [recognized] = await recognizeWithRepair(models, [new Float32Array(3 * second)], options)
  assert.equal(textOf(recognized!.words), 'Hello. Good morning, Steve.')
  assert.equal(recognized!.words[1]!.start, 0.5)
  assert.equal(recognized!.words[1]!.end, 0.8)
  assert.equal(requested[1]!.seconds, 2.5)
})

test('words too short to be spoken are kept if no better text is found and they fit', async () => {
  const crammed = (count: number, end: number) => {
    const words = Array.from({ length: count }, (_, i) => {
      return { text: `${i}`, start: 1 + i * 0.01, end: 1 + (i + 1) * 0.01, confidence: 0.9 }
    })
    const before = { text: 'before', start: 0, end: 1, confidence: 0.9 }
    return { words: [before, ...words, { ...before, text: 'behind', start: end, end: 2 }] }
  }
  for (const [count, end, text] of [
    [2, 1.3, 'before 0 1 behind'],
    [5, 1.1, 'before behind'],
  ] as const) {
    const { recognizer } = scripted(crammed(count, end), { text: '' })
    const models = { recognizer, detector: speech }
    const [recognized] = await recognizeWithRepair(models, [new Float32Array(2 * second)], options)
    assert.equal(textOf(recognized!.words), text)
    for (const { start, end } of recognized!.words) assert.ok(end - start > 0.039)
  }
})

test('gaps between words with estimated times are not recognized again', async () => {
  const { recognizer, requested } = scripted({ text: 'start' }, { text: 'missing words' })
  const capabilities = { ...recognizer.capabilities, wordTimes: false }
  const [recognized] = await recognizeWithRepair(
    { recognizer: { ...recognizer, capabilities }, detector: speech },
    [new Float32Array(3 * second)],
    options,
  )
  assert.equal(textOf(recognized!.words), 'start')
  assert.equal(requested.length, 1)
})

test('quietestPoint lies in the pause', () => {
  const audio = Float32Array.from({ length: 4 * second }, (_, i) => Math.sin(i))
  audio.fill(0, 2.3 * second, 2.5 * second)
  const at = quietestPoint(audio) / second
  assert.ok(at > 2.3 && at < 2.5)
})

test('the thresholds of the recognizer decide whether a result is kept', async () => {
  const { recognizer } = scripted({ text: 'thank you', logProbability: -1.5 })
  const thresholds = { ...recognizer.thresholds, minLogProb: -2 }
  const [recognized] = await recognizeWithRepair(
    { recognizer: { ...recognizer, thresholds }, detector: silence },
    [new Float32Array(second)],
    options,
  )
  assert.equal(textOf(recognized!.words), 'thank you')
})

test('in noise, words of very low confidence are dropped', async () => {
  const words = [0.9, 0.05, 0.3].map((confidence, i) => {
    return { text: `w${i}`, start: i, end: i + 0.5, confidence }
  })
  const recognize = async (audio: Float32Array) => {
    const { recognizer } = scripted({ words })
    const [piece] = await recognizeWithRepair({ recognizer, detector: speech }, [audio], options)
    return piece!
  }
  const steady = Float32Array.from({ length: 3 * second }, (_, i) => 0.1 * Math.sin(i * i))
  const paused = steady.map((sample, i) => (i % second < second / 2 ? sample : 0.001 * sample))
  const noisy = await recognize(steady)
  assert.deepEqual([textOf(noisy.words), noisy.uncovered], ['w0 w2', 0.5])
  assert.equal(textOf((await recognize(paused)).words), 'w0 w1 w2')
})

test('the vocabulary is used where the VAD is certain, but not on a second try', async () => {
  const sure = scripted({ text: '' }, { text: 'hello' })
  const listed = { ...options, vocabulary: ['Kubernetes'] }
  await recognizeWithRepair({ ...sure, detector: speech }, [new Float32Array(9.6 * second)], listed)
  assert.deepEqual(sure.vocabularies, [['Kubernetes'], []])
  const unsure = scripted({ text: 'hello' })
  await recognizeWithRepair({ ...unsure, detector: silence }, [new Float32Array(second)], listed)
  assert.deepEqual(unsure.vocabularies, [[]])
})

test('pieces with and without the vocabulary keep their order', async () => {
  const { recognizer } = scripted({ text: 'second' }, { text: 'first' })
  const detector = {
    detect: async (audio: Float32Array) =>
      new Float32Array(100).fill(audio.length === second ? 0 : 1),
  }
  const pieces = [new Float32Array(second), new Float32Array(second + 1)]
  const listed = { ...options, vocabulary: ['Kubernetes'] }
  const recognized = await recognizeWithRepair({ recognizer, detector }, pieces, listed)
  assert.deepEqual(
    recognized.map(({ words }) => textOf(words)),
    ['first', 'second'],
  )
})
