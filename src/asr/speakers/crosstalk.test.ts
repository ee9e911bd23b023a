import assert from 'node:assert/strict'
import test from 'node:test'
import { shareRoom } from './crosstalk.ts'

/** Words, one each half second; `-` is a silent half second. */
function heard(text: string, late = 0) {
  return text.split(' ').flatMap((word, i) => {
    return word === '-'
      ? []
      : [{ text: word, start: i / 2 + late, end: i / 2 + 0.4 + late, confidence: 1 }]
  })
}

test('microphones that hear the same words are in one room', () => {
  assert.equal(shareRoom([heard('who is there'), heard('Who is - me', 0.2)]), true)
  assert.equal(shareRoom([heard('- - - - yes'), heard('so what do you yes. no')]), true)
})

test('sides of a call are not, even when both speak at once', () => {
  assert.equal(shareRoom([heard('who is there now'), heard('it is me again')]), true)
  assert.equal(shareRoom([heard('who is there now please'), heard('it was me again today')]), false)
})

test('the same word at another time says nothing', () => {
  assert.equal(shareRoom([heard('yes no maybe'), heard('yes no maybe', 0.4)]), false)
})

test('a channel is not compared with itself, nor is silence with silence', () => {
  assert.equal(shareRoom([heard('one two three'), []]), false)
  assert.equal(shareRoom([[], []]), false)
})
