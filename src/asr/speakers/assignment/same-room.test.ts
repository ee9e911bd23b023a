import assert from 'node:assert/strict'
import test from 'node:test'
import { inSameRoom } from './same-room.ts'

/** Words, one each half second; `-` is a silent half second. */
function heard(text: string, late = 0) {
  return text.split(' ').flatMap((word, i) => {
    return word === '-'
      ? []
      : [{ text: word, start: i / 2 + late, end: i / 2 + 0.4 + late, confidence: 1 }]
  })
}

test('microphones that hear the same words are in one room', () => {
  const far = heard('Who is - at the door', 0.2)
  assert.equal(inSameRoom([heard('who is there at the door'), far]), true)
  const long = heard('so what do you want from me. yes, I do think so too')
  assert.equal(inSameRoom([heard('- - - - - - - yes i do think so'), long]), true)
  assert.equal(inSameRoom([long, heard('- - - - - - - yes i do think so')]), true)
})

test('sides of a call are not, even when both speak at once', () => {
  const [long, own] = [`${'a '.repeat(16)}b b b b b`, `${'c '.repeat(16)}b b b b b`]
  assert.equal(inSameRoom([heard(long.slice(2)), heard(own.slice(2))]), true)
  assert.equal(inSameRoom([heard(long), heard(own)]), false)
})

test('a few words that both sides say at once are no room, however little one says', () => {
  assert.equal(inSameRoom([heard('- - - yes'), heard('so what now yes')]), false)
  const side = heard('yes yes yes yes')
  assert.equal(inSameRoom([side, side]), false)
})

test('the same word at another time says nothing', () => {
  const words = 'one two three four five six'
  assert.equal(inSameRoom([heard(words), heard(words, 0.2)]), true)
  assert.equal(inSameRoom([heard(words), heard(words, 0.4)]), false)
})

test('a channel is not compared with itself, nor is silence with silence', () => {
  assert.equal(inSameRoom([heard('one two three four five six'), []]), false)
  assert.equal(inSameRoom([[], []]), false)
})
