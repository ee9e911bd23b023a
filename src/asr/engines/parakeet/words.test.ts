import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wordsFromTokens } from './words.ts'

const pieces = ['▁Hel', 'lo', ',', '▁wor', 'ld', '.', '▁', '5', '▁-']

/** Tokens as `piece@frame+frames`. */
function words(text: string, seconds = 10) {
  const tokens = text.split(' ').map((part) => {
    const [, piece = '', frame, frames] = /^(.*)@(\d+)\+(\d+)$/.exec(part) ?? []
    const token = pieces.indexOf(piece)
    return { token, frame: Number(frame), frames: Number(frames), logProb: Math.log(0.8) }
  })
  return wordsFromTokens(tokens, pieces, seconds).map(({ text, start, end }) => {
    return [text, Number(start.toFixed(2)), Number(end.toFixed(2))]
  })
}

test('a word ends with its last letters, not with the duration of its comma', () => {
  assert.deepEqual(words('▁Hel@0+2 lo@2+1 ,@3+4 ▁wor@12+2 ld@14+1 .@15+4'), [
    ['Hello,', 0, 0.24],
    ['world.', 0.96, 1.2],
  ])
})

test('a token without a duration lasts one frame, and words do not overlap', () => {
  assert.deepEqual(words('▁Hel@0+0 lo@0+0 ▁wor@1+4 ▁Hel@2+1'), [
    ['Hello', 0, 0.08],
    ['wor', 0.08, 0.16],
    ['Hel', 0.16, 0.24],
  ])
})

test('lone punctuation joins the word before it, and words end within the audio', () => {
  assert.deepEqual(words('▁-@0+1 ▁Hel@1+1 ▁-@2+1 ▁@5+0 5@5+4', 0.5), [
    ['Hel-', 0.08, 0.16],
    ['5', 0.4, 0.5],
  ])
})
