import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { emotions, isEmotion } from './emotions.ts'
import { entryOf, MAX_PHRASE_WORDS } from './lexicon.ts'

const list = readFileSync(new URL('../../words/lists/sentiment.txt', import.meta.url), 'utf8')
const rows = list
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split('\t'))

test('the sentiment list has unique phrases of searchable words', () => {
  const phrases = rows.map(([phrase = '']) => phrase.replaceAll('-', ' '))
  assert.equal(new Set(rows.map(([phrase]) => phrase)).size, rows.length)
  for (const phrase of phrases) {
    assert.match(phrase, /^[a-z0-9']+( [a-z0-9']+)*$/)
    assert.ok(phrase.split(' ').length <= MAX_PHRASE_WORDS, phrase)
  }
})

test('each line of the sentiment list has a valence from -4 to 4 and a known emotion', () => {
  for (const [phrase, valence, emotion = ''] of rows) {
    assert.match(valence ?? '', /^-?[0-4]$/, phrase)
    assert.ok(emotion === '-' || isEmotion(emotion), phrase)
  }
})

test('the sentiment list covers every emotion except neutral', () => {
  const named = new Set(rows.map(([, , emotion]) => emotion))
  assert.deepEqual(
    emotions.filter((emotion) => !named.has(emotion)),
    ['neutral'],
  )
})

test('entryOf takes the sign of the own list and the larger magnitude', () => {
  assert.deepEqual(entryOf('furious'), { valence: -3, emotion: 'anger' })
  assert.deepEqual(entryOf('terrible'), { valence: -3, emotion: 'disappointment' })
  assert.deepEqual(entryOf('fire'), { valence: 0 })
  assert.deepEqual(entryOf('breathtaking'), { valence: 5, emotion: 'awe' })
  assert.deepEqual(entryOf('abhorrent'), { valence: -3 })
  assert.equal(entryOf('table'), undefined)
})
