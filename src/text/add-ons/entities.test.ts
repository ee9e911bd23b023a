import assert from 'node:assert/strict'
import test from 'node:test'
import type { Utterance } from '../../transcript/transcript.ts'
import { findNamedEntities } from './entities.ts'

/** Returns an utterance whose words last half a second each. */
function utteranceOf(text: string, start: number, channel = 0): Utterance {
  const words = text.split(' ').map((word, i) => {
    const from = start + i / 2
    return { text: word, start: from, end: from + 0.50004, confidence: 1 }
  })
  return { channel, language: 'en', words }
}

test('an entity has its type, text without punctuation and the times of its words', () => {
  assert.deepEqual(findNamedEntities({ utterances: [utteranceOf('Hi, this is Lena.', 1)] }), [
    { entity_type: 'NAME_GIVEN', text: 'Lena', start: 2.5, end: 3 },
  ])
})

test('a number continues across utterances of its channel, ignoring other channels', () => {
  const utterances = [
    utteranceOf('My number is four one five.', 0),
    utteranceOf('Go on.', 3, 1),
    utteranceOf('Five five five, zero one nine nine.', 4),
  ]
  const [phone, ...others] = findNamedEntities({ utterances })
  assert.deepEqual(others, [])
  assert.deepEqual([phone?.entity_type, phone?.start, phone?.end], ['PHONE_NUMBER', 1.5, 7.5])
})

test('a number continues after a filled pause, and its question is still a cue', () => {
  const utterances = [
    utteranceOf('Um, hello.', 0),
    utteranceOf('Your date of birth?', 1, 1),
    utteranceOf('Um, three, uh, eleven eighty five.', 3),
    utteranceOf('And my number is five five five, um, one two three, uh, four five six seven.', 9),
  ]
  const found = findNamedEntities({ utterances })
  assert.deepEqual(found, [
    { entity_type: 'DOB', text: 'three, uh, eleven eighty five', start: 3.5, end: 6 },
    {
      entity_type: 'PHONE_NUMBER',
      text: 'five five five, um, one two three, uh, four five six seven',
      start: 11,
      end: 17,
    },
  ])
})

test('entities of all channels are sorted by start', () => {
  const utterances = [
    utteranceOf('Ask John Smith.', 0),
    utteranceOf('Or Maria.', 1, 1),
    utteranceOf('He is in Berlin.', 4),
  ]
  const found = findNamedEntities({ utterances }).map(({ text }) => text)
  assert.deepEqual(found, ['John Smith', 'Maria', 'Berlin'])
})

test('a transcript without words has no entities', () => {
  assert.deepEqual(findNamedEntities({ utterances: [] }), [])
})

test('redacted entities are reported with their markers only', () => {
  const utterances = [utteranceOf('My name is [NAME_1], or mister ####@#### Lena.', 0)]
  const hidden = [{ type: 'NAME', text: '[NAME_1]', start: 1.50001, end: 2 }]
  assert.deepEqual(findNamedEntities({ utterances, hidden }), [
    { entity_type: 'NAME', text: '[NAME_1]', start: 1.5, end: 2 },
    { entity_type: 'NAME_GIVEN', text: 'Lena', start: 3.5, end: 4 },
  ])
})
