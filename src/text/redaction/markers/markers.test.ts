import assert from 'node:assert/strict'
import test from 'node:test'
import { readMarkers } from './markers.ts'

function transcriptOf(text: string) {
  const words = text.split(' ').map((text, i) => {
    return { text, start: i, end: i + 0.5, confidence: 1 }
  })
  return { utterances: [{ channel: 0, language: 'en', words }] }
}

test('readMarkers returns the type and times of redaction markers', () => {
  assert.deepEqual(
    readMarkers(transcriptOf("Hi ([NAME_GIVEN_1]), it's [EMAIL_2]'s. [NOTHING_1] [NAME]")),
    [
      { type: 'NAME_GIVEN', text: '[NAME_GIVEN_1]', start: 1, end: 1.5 },
      { type: 'EMAIL_ADDRESS', text: '[EMAIL_2]', start: 3, end: 3.5 },
    ],
  )
})

test('masks do not reveal their type', () => {
  assert.deepEqual(readMarkers(transcriptOf('My name is ####.')), [])
})
