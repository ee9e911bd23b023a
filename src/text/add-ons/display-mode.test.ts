import assert from 'node:assert/strict'
import test from 'node:test'
import type { Utterance } from '../../transcript/transcript.ts'
import { displayMode } from './display-mode.ts'

type SpeakerRef = Partial<Pick<Utterance, 'channel' | 'language' | 'speaker'>>

/**
 * Returns the paragraphs of utterances in turn, each word half a second long; `_` is half a second
 * of silence.
 */
function paragraphs(...turns: [text: string, whose?: SpeakerRef][]): unknown {
  let tick = 0
  const utterances = turns.map(([text, whose]) => {
    const words: Utterance['words'] = []
    for (const part of text.split(' ')) {
      if (part === '_') tick++
      else words.push({ text: part, start: tick / 2, end: ++tick / 2, confidence: 1 })
    }
    return { channel: 0, language: 'en', ...whose, words }
  })
  return displayMode.compute({ utterances }, {}, { format: 'string' }).results
}

test('sentences of one speaker form a paragraph', () => {
  assert.deepEqual(paragraphs(['Hello there.'], ['How are you?']), ['Hello there. How are you?'])
})

test('another speaker, channel or language starts a paragraph', () => {
  assert.deepEqual(paragraphs(['One.', { speaker: 0 }], ['Two.', { speaker: 1 }]), ['One.', 'Two.'])
  assert.deepEqual(paragraphs(['One.'], ['Two.', { channel: 1 }]), ['One.', 'Two.'])
  assert.deepEqual(paragraphs(['One.'], ['Deux.', { language: 'fr' }]), ['One.', 'Deux.'])
})

test('a pause of more than 3 s starts a paragraph', () => {
  assert.deepEqual(paragraphs(['One. _ _ _ _ _ _ Two.']), ['One. Two.'])
  assert.deepEqual(paragraphs(['One. _ _ _ _ _ _ _ Two.']), ['One.', 'Two.'])
})

test('a paragraph ends after five sentences', () => {
  assert.deepEqual(paragraphs(['A b. C d. E f. G h. I j. K l.']), [
    'A b. C d. E f. G h. I j.',
    'K l.',
  ])
})

test('sentences of languages without spaces are joined without spaces', () => {
  assert.deepEqual(paragraphs(['你好。 我很好。', { language: 'zh' }]), ['你好。我很好。'])
})

test('a transcript without speech has no paragraphs', () => {
  assert.deepEqual(displayMode.compute({ utterances: [] }, {}, { format: 'string' }), {
    results: [],
    isEmpty: true,
  })
})

test('display_mode supports every language', () => {
  assert.equal(displayMode.languages, 'all')
})
