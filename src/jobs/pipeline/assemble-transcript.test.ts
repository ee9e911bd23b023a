import assert from 'node:assert/strict'
import test from 'node:test'
import type { RecognizedSegment } from '../../asr/speech-engine.ts'
import { assembleTranscript } from './assemble-transcript.ts'

/** Segments of one second per word, starting at `start`. */
function recognized(start: number, text: string, language = 'en'): RecognizedSegment {
  const texts = text === '' ? [] : text.split(' ')
  const words = texts.map((text, i) => {
    return { text, start: start + i, end: start + i + 0.9, confidence: 1 }
  })
  const segment = { start: start * 16_000, end: (start + texts.length) * 16_000 }
  return { segment, words, model: 'm', language, uncovered: 0, warnings: [] }
}

function texts(batches: Parameters<typeof assembleTranscript>[0]): string[] {
  return assembleTranscript(batches).utterances.map(({ channel, language, words }) => {
    return `${channel} ${language} ${words.map(({ text }) => text).join(' ')}`
  })
}

test('a sentence continues across segments and batches', () => {
  const batches = [
    { channel: 0, segments: [recognized(0, 'one two'), recognized(2, 'three')] },
    { channel: 0, segments: [recognized(3, 'four')] },
  ]
  assert.deepEqual(texts(batches), ['0 en one two three four'])
})

test('words are sorted by time regardless of the order of batches', () => {
  const batches = [
    { channel: 0, segments: [recognized(0, 'one'), recognized(2, 'three')] },
    { channel: 1, segments: [recognized(9, 'else')] },
    { channel: 0, segments: [recognized(1, 'two'), recognized(3, 'four')] },
  ]
  assert.deepEqual(texts(batches), ['0 en one two three four', '1 en else'])
})

test('a segment without words is omitted', () => {
  assert.deepEqual(texts([{ channel: 0, segments: [recognized(0, '')] }]), [])
  const segments = [recognized(0, 'one'), recognized(1, '', 'fr'), recognized(1, 'two')]
  assert.deepEqual(texts([{ channel: 0, segments }]), ['0 en one two'])
})

test('a change of language ends an utterance', () => {
  const segments = [recognized(0, 'one'), recognized(1, 'deux', 'fr'), recognized(2, 'trois', 'fr')]
  assert.deepEqual(texts([{ channel: 0, segments }]), ['0 en one', '0 fr deux trois'])
})

test('channels are separate, and utterances sorted by start and channel', () => {
  const batches = [
    { channel: 0, segments: [recognized(0, 'a'), recognized(9, 'd')] },
    { channel: 1, segments: [recognized(0, 'b'), recognized(5, 'c')] },
  ]
  assert.deepEqual(texts(batches), ['0 en a', '1 en b', '1 en c', '0 en d'])
})
