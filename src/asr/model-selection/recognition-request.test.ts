import assert from 'node:assert/strict'
import test from 'node:test'
import { readRecognitionRequest } from './recognition-request.ts'

test('readRecognitionRequest reads the parameters of a job', () => {
  const request = readRecognitionRequest({
    model: 'stt-3',
    language_config: { languages: ['en', 'fr'], code_switching: true },
    custom_vocabulary: true,
    custom_vocabulary_config: { vocabulary: ['Steno', { value: 'Ada', intensity: 1 }] },
  })
  assert.deepEqual(request, {
    model: 'stt-3',
    languages: ['en', 'fr'],
    codeSwitching: true,
    vocabulary: ['Steno', 'Ada'],
  })
})

test('absent or disabled parameters are not requested', () => {
  const custom_vocabulary_config = { vocabulary: ['Steno'] }
  assert.deepEqual(readRecognitionRequest({ custom_vocabulary: false, custom_vocabulary_config }), {
    model: 'stt-1',
    languages: [],
    codeSwitching: false,
    vocabulary: [],
  })
})
