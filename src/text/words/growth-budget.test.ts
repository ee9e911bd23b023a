import assert from 'node:assert/strict'
import test from 'node:test'
import type { Transcript } from '../../transcript/transcript.ts'
import { buildResult } from '../result/build-result.ts'
import { createSpelling } from '../transforms/spelling.ts'
import { createVocabulary } from '../vocabulary/custom-vocabulary.ts'

/** Returns utterances that repeat one word so many times. */
function repeat(text: string, { utterances = 1, words = 1 } = {}): Transcript {
  const timed = Array.from({ length: words }, (_, i) => {
    return { text, start: i, end: i + 0.5, confidence: 0.9 }
  })
  const one = { channel: 0, language: 'en', words: timed }
  return { utterances: Array.from({ length: utterances }, () => one) }
}

function lengthOf({ utterances }: Transcript): number {
  return utterances.flatMap(({ words }) => words).reduce((sum, { text }) => sum + text.length, 0)
}

for (const length of [501, 250_000]) {
  test(`a spelling or entry of ${length} characters is ignored with a warning`, () => {
    const long = 'x'.repeat(length)
    const spelling = createSpelling({ spelling_dictionary: { [long]: ['a'], B: [long, 'b'] } })
    assert.equal(lengthOf(spelling.apply(repeat('a', { words: 9 }))), 9)
    assert.equal(spelling.apply(repeat('b')).utterances[0]!.words[0]!.text, 'B')
    assert.match(spelling.warnings()[0]!, /^custom_spelling: 2 of the entries were ignored/)
    const entry = { value: long, pronunciations: ['hello'] }
    const vocabulary = createVocabulary({
      vocabulary: [entry, { value: 'B', pronunciations: [long] }],
    })
    assert.equal(lengthOf(vocabulary.apply(repeat('hello'))), 5)
    assert.match(vocabulary.warnings()[0]!, /^custom_vocabulary: 2 of the entries were ignored/)
  })
}

test('a phrase may be replaced with a paragraph without a warning', () => {
  const spelling = createSpelling({ spelling_dictionary: { ['x'.repeat(500)]: ['disclaimer'] } })
  assert.equal(lengthOf(spelling.apply(repeat('disclaimer', { words: 3 }))), 1500)
  assert.deepEqual(spelling.warnings(), [])
})

for (const create of [
  (key: string) => createSpelling({ spelling_dictionary: { [key]: ['b'] } }),
  (key: string) => createVocabulary({ vocabulary: [{ value: key, pronunciations: ['b'] }] }),
]) {
  test('the growth by replacements is limited per utterance and in total', () => {
    const key = 'y'.repeat(500)
    const one = create(key)
    assert.ok(lengthOf(one.apply(repeat('b', { words: 1000 }))) <= 5 * 1000 + 2000)
    assert.match(one.warnings()[0]!, /replacements were left out/)
    const many = create(key)
    const timed = { utterances: 100, words: 10 }
    let length = 0
    for (let i = 0; i < 100; i++) length += lengthOf(many.apply(repeat('b', timed)))
    assert.ok(length <= 5 * 100 * 1000 + 65_536 && length > 65_536)
  })
}

test("text warnings are included in the result's metadata, also of failed steps", () => {
  const params = {
    custom_spelling: true,
    custom_spelling_config: { spelling_dictionary: { ['x'.repeat(501)]: ['a'] } },
    subtitles: true,
    custom_vocabulary: true,
  }
  const options = { audioDuration: 1, distinctChannels: 1, transcriptionTime: 1, params }
  const why = (message: string) => ({ status_code: 504, exception: 'AddonTimeout', message })
  const given = { custom_vocabulary: why('vocabulary hung'), subtitles: why('subtitles hung') }
  const { result } = buildResult(repeat('a'), options, { failedSteps: given })
  const { warnings } = result.metadata as { warnings: string[] }
  assert.equal(warnings[0], 'vocabulary hung')
  assert.match(warnings[1]!, /^custom_spelling: 1 of the entries/)
  assert.equal(warnings[2], 'subtitles: subtitles hung')
})
