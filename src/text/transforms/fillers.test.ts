import assert from 'node:assert/strict'
import test from 'node:test'
import { removeFillers } from './fillers.ts'

function without(text: string, language = 'en'): string[] {
  const words = text.split(' ').map((word, i) => {
    return { text: word, start: i, end: i + 1, confidence: 1 }
  })
  const { utterances } = removeFillers({ utterances: [{ channel: 0, language, words }] })
  return utterances.map((utterance) => utterance.words.map((word) => word.text).join(' '))
}

test('filled pauses are removed, and punctuation and capitals adjusted', () => {
  assert.deepEqual(without('Um, so we, uh, left. Uh the end, hmm.'), ['So we left. The end.'])
  assert.deepEqual(without('Hmm.'), [])
  assert.deepEqual(without('Mm, it is 5 mm thick.'), ['It is 5 mm thick.'])
})

test('a comma before a filled pause stays only where the sentence needs it', () => {
  assert.deepEqual(without("I was, um, born. It's, uh, fine. We're, uh we're here."), [
    "I was born. It's fine. We're, we're here.",
  ])
  assert.deepEqual(without("I was, um, I was there. It's a, uh, it's a dog. I was, um, I am."), [
    "I was, I was there. It's a, it's a dog. I was I am.",
  ])
  assert.deepEqual(without('Yes, um, I did. Paris, uh, London, er, and Rome.'), [
    'Yes, I did. Paris, London, and Rome.',
  ])
})

test('quotation marks are kept when the first or last word is removed', () => {
  assert.deepEqual(without('“Um, no,” he said.'), ['“No,” he said.'])
  assert.deepEqual(without('He said, “I left, uh.” Then “um.”'), ['He said, “I left.” Then.'])
})

test('abbreviations are not filled pauses, unless all is in capitals', () => {
  assert.deepEqual(without('She came to the ER at UM.'), ['She came to the ER at UM.'])
  assert.deepEqual(without('SHE CAME TO ER THE HOSPITAL'), ['SHE CAME TO THE HOSPITAL'])
})

test('in another language the same letters are kept', () => {
  assert.deepEqual(without('Um neun er', 'de'), ['Um neun er'])
})

test('speakers are renumbered by their first remaining words', () => {
  const utterance = (speaker: number, texts: string[], start: number) => {
    const words = texts.map((text, i) => ({
      text,
      start: start + i,
      end: start + i + 1,
      confidence: 1,
    }))
    return { channel: 0, language: 'en', speaker, words }
  }
  const speech = [
    utterance(0, ['Um,', 'um,', 'um,', 'um,', 'yes.'], 0),
    utterance(1, ['Hello.'], 2),
    utterance(2, ['Hmm.'], 6),
    utterance(3, ['Bye.'], 7),
  ]
  const { utterances } = removeFillers({ utterances: speech })
  const numbered = utterances.map(({ speaker, words }) => `${speaker} ${words[0]!.text}`)
  assert.deepEqual(numbered, ['1 Yes.', '0 Hello.', '2 Bye.'])
})
