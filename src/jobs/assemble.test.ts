import assert from 'node:assert/strict'
import test from 'node:test'
import type { RecognizedSegment } from '../asr/speech-engine.ts'
import { assembleTranscript } from './assemble.ts'

/** Segments of one second per word, starting at `start`. */
function heard(start: number, text: string, language = 'en'): RecognizedSegment {
  const texts = text === '' ? [] : text.split(' ')
  const words = texts.map((text, i) => {
    return { text, start: start + i, end: start + i + 0.9, confidence: 1 }
  })
  const segment = { start: start * 16_000, end: (start + texts.length) * 16_000 }
  return { segment, words, language, uncovered: 0, warnings: [] }
}

function texts(batches: Parameters<typeof assembleTranscript>[0]): string[] {
  return assembleTranscript(batches).utterances.map(({ channel, language, words }) => {
    return `${channel} ${language} ${words.map(({ text }) => text).join(' ')}`
  })
}

test('a sentence runs on across segments and batches', () => {
  const batches = [
    { channel: 0, segments: [heard(0, 'one two'), heard(2, 'three')] },
    { channel: 0, segments: [heard(3, 'four')] },
  ]
  assert.deepEqual(texts(batches), ['0 en one two three four'])
})

test('words stand in order of time whatever the order of the batches', () => {
  const batches = [
    { channel: 0, segments: [heard(0, 'one'), heard(2, 'three')] },
    { channel: 1, segments: [heard(9, 'else')] },
    { channel: 0, segments: [heard(1, 'two'), heard(3, 'four')] },
  ]
  assert.deepEqual(texts(batches), ['0 en one two three four', '1 en else'])
})

test('a segment without words leaves no trace', () => {
  assert.deepEqual(texts([{ channel: 0, segments: [heard(0, '')] }]), [])
  const segments = [heard(0, 'one'), heard(1, '', 'fr'), heard(1, 'two')]
  assert.deepEqual(texts([{ channel: 0, segments }]), ['0 en one two'])
})

test('a change of language ends an utterance', () => {
  const segments = [heard(0, 'one'), heard(1, 'deux', 'fr'), heard(2, 'trois', 'fr')]
  assert.deepEqual(texts([{ channel: 0, segments }]), ['0 en one', '0 fr deux trois'])
})

test('channels are kept apart, and their utterances stand by start, then channel', () => {
  const batches = [
    { channel: 0, segments: [heard(0, 'a'), heard(9, 'd')] },
    { channel: 1, segments: [heard(0, 'b'), heard(5, 'c')] },
  ]
  assert.deepEqual(texts(batches), ['0 en a', '1 en b', '1 en c', '0 en d'])
})
