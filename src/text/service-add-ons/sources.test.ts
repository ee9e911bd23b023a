import assert from 'node:assert/strict'
import test from 'node:test'
import type { Transcript } from '../../transcript/transcript.ts'
import { findSources, quotesIn } from './sources.ts'

/** Utterances of one word a second, each beginning when the one before ends. */
function say(...texts: string[]): Transcript {
  let time = 0
  const utterances = texts.map((text, channel) => ({
    channel,
    language: 'en',
    words: text.split(' ').map((word) => ({
      text: ` ${word}`,
      start: time,
      end: ++time,
      confidence: 1,
    })),
  }))
  return { utterances }
}

test('quoted words are located at their first occurrence in any spelling', () => {
  const transcript = say('Well, it is the café.', 'The Café, order 4-711, the café.')
  assert.deepEqual(findSources(transcript, ['the cafe', 'Order 4711', 'the cafe']), [
    { text: 'the cafe', start: 3, end: 5, channel: 0 },
    { text: 'Order 4711', start: 7, end: 9, channel: 1 },
  ])
})

test('partial words, words across utterances and absent words are not sources', () => {
  const transcript = say('A location', 'by the sea, the cat')
  assert.deepEqual(findSources(transcript, ['location by', 'dog', '', '…']), [])
  assert.deepEqual(findSources(transcript, ['cat']), [
    { text: 'cat', start: 6, end: 7, channel: 1 },
  ])
})

test('quotes are the text between quotation marks of any language', () => {
  const text = 'She said "yes", “of course”, „gern“, « oui » and 「はい」, it\'s "open'
  assert.deepEqual(quotesIn(text), ['yes', 'of course', 'gern', ' oui ', 'はい'])
})
