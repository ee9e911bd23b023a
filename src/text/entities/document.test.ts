import assert from 'node:assert/strict'
import test from 'node:test'
import type { Utterance } from '../../transcript/transcript.ts'
import { documentsOf, tokensWithin, withoutFilledPauses } from './document.ts'

function utteranceOf(text: string, given: Partial<Utterance> = {}): Utterance {
  const words = text.split(' ').map((word, i) => {
    return { text: word, start: i, end: i + 0.5, confidence: 0.9 }
  })
  return { channel: 0, language: 'en', words, ...given }
}

test('a document joins the utterances of a channel across those of others', () => {
  const utterances = [
    utteranceOf('My name'),
    utteranceOf('Yes?', { channel: 1 }),
    utteranceOf('is Lena.'),
  ]
  const documents = documentsOf({ utterances })
  assert.deepEqual(
    documents.map(({ channel, text }) => [channel, text]),
    [
      [0, 'My name is Lena.'],
      [1, 'Yes?'],
    ],
  )
  const [lena] = documents[0]!.tokens.slice(-1)
  const place = {
    text: 'Lena.',
    start: 1,
    end: 1.5,
    confidence: 0.9,
  }
  assert.deepEqual(lena, { ...place, from: 11, to: 16 })
})

test('a document ends at a change of language, and joins without spaces where needed', () => {
  const utterances = [
    utteranceOf('Hello there'),
    utteranceOf('你 好', { language: 'zh' }),
    utteranceOf('again'),
  ]
  const texts = documentsOf({ utterances }).map(({ language, text }) => `${language} ${text}`)
  assert.deepEqual(texts, ['en Hello there', 'zh 你好', 'en again'])
})

test('a document records what another channel said just before an answer', () => {
  const requested = utteranceOf('Your name?', { channel: 1 })
  const utterances = [
    utteranceOf('Hello.'),
    utteranceOf('Hi.'),
    requested,
    utteranceOf('Lena.'),
    utteranceOf('Lena Ray.'),
  ]
  const interjections = documentsOf({ utterances }).map((document) => document.interjections)
  assert.deepEqual(interjections, [[{ at: 11, text: 'Your name?' }], [{ at: 0, text: 'Hi.' }]])
})

test('tokensWithin returns the words that a span touches', () => {
  const [document] = documentsOf({ utterances: [utteranceOf('one two three')] })
  const touched = (from: number, to: number) => {
    return tokensWithin(document!, { from, to }).map(({ text }) => text)
  }
  assert.deepEqual(touched(4, 7), ['two'])
  assert.deepEqual(touched(2, 5), ['one', 'two'])
  assert.deepEqual(touched(3, 4), [])
})

test('a document without filled pauses maps its spans to the original text', () => {
  const [document] = documentsOf({ utterances: [utteranceOf('Um, call five, uh, six now.')] })
  const fluent = withoutFilledPauses(document!)!
  assert.equal(fluent.text, 'call five, six now.')
  const { from, to } = fluent.toOriginal({ from: 5, to: 14 })
  assert.equal(document!.text.slice(from, to), 'five, uh, six')
})

test('filled pauses are left out in English only, where there are any', () => {
  const utterances = [utteranceOf('Um neun Uhr.', { language: 'de' }), utteranceOf('At nine.')]
  assert.deepEqual(documentsOf({ utterances }).map(withoutFilledPauses), [undefined, undefined])
})
