import assert from 'node:assert/strict'
import test from 'node:test'
import { isSameRoom } from './same-room.ts'

/** Words, one each half second; `-` is a silent half second. */
function recognized(text: string, late = 0) {
  return text.split(' ').flatMap((word, i) => {
    return word === '-'
      ? []
      : [{ text: word, start: i / 2 + late, end: i / 2 + 0.4 + late, confidence: 1 }]
  })
}

test('channels with the same words at the same time are in one room', () => {
  const far = recognized('Who is - at the door', 0.2)
  assert.equal(isSameRoom([recognized('who is there at the door'), far]), true)
  const long = recognized('so what do you want from me. yes, I do think so too')
  assert.equal(isSameRoom([recognized('- - - - - - - yes i do think so'), long]), true)
  assert.equal(isSameRoom([long, recognized('- - - - - - - yes i do think so')]), true)
})

test('the sides of a call are not in one room, even when both speak at once', () => {
  const [long, short] = [`${'a '.repeat(16)}b b b b b`, `${'c '.repeat(16)}b b b b b`]
  assert.equal(isSameRoom([recognized(long.slice(2)), recognized(short.slice(2))]), true)
  assert.equal(isSameRoom([recognized(long), recognized(short)]), false)
})

test('a few simultaneous words do not make a room, however short a side is', () => {
  assert.equal(isSameRoom([recognized('- - - yes'), recognized('so what now yes')]), false)
  const side = recognized('yes yes yes yes')
  assert.equal(isSameRoom([side, side]), false)
})

test('the same words at another time do not count as the same room', () => {
  const words = 'one two three four five six'
  assert.equal(isSameRoom([recognized(words), recognized(words, 0.2)]), true)
  assert.equal(isSameRoom([recognized(words), recognized(words, 0.4)]), false)
})

test('an empty channel is never in the same room', () => {
  assert.equal(isSameRoom([recognized('one two three four five six'), []]), false)
  assert.equal(isSameRoom([[], []]), false)
})
