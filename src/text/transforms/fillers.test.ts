import assert from 'node:assert/strict'
import test from 'node:test'
import { removeFillers } from './fillers.ts'

function without(text: string, language = 'en'): string[] {
  const words = text.split(' ').map((own, i) => {
    return { text: own, start: i, end: i + 1, confidence: 1 }
  })
  const { utterances } = removeFillers({ utterances: [{ channel: 0, language, words }] })
  return utterances.map((own) => own.words.map((word) => word.text).join(' '))
}

test('filled pauses go, marks and capitals stay where they belong', () => {
  assert.deepEqual(without('Um, so we, uh, left. Uh the end, hmm.'), ['So we, left. The end.'])
  assert.deepEqual(without('Hmm.'), [])
})

test('in another language the same letters are a word', () => {
  assert.deepEqual(without('Um neun er', 'de'), ['Um neun er'])
})
