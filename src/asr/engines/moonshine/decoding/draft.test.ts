import assert from 'node:assert/strict'
import test from 'node:test'
import { tokenPieces } from '../tokens.ts'
import { realignDraft } from './draft.ts'

const pieces = tokenPieces()
/** The tokens of pieces; a space begins a word. */
const tokensOf = (text: string) => {
  return Array.from(text.matchAll(/ ?[^ |]+/g), ([piece]) => {
    const token = pieces.indexOf(piece.replace(' ', '\u2581'))
    assert.ok(token > 0, piece)
    return token
  })
}

test('realignDraft resumes after missing, different and extra words', () => {
  const draft = tokensOf(' the| north| and| with|in| reach')
  const resume = (at: number, written: string) => realignDraft(draft, at, tokensOf(written)[0]!)
  assert.equal(resume(2, ' and'), 3)
  assert.equal(resume(1, ' and'), 3)
  assert.equal(resume(2, ','), 2)
  // The draft lacked a word, and went on at the word after the next one.
  assert.equal(resume(3, ' and'), 3)
  assert.equal(resume(2, ' but'), 3)
  assert.equal(resume(3, ' near'), 5)
  assert.equal(resume(4, 'out'), 5)
  assert.equal(resume(5, ' home'), 6)
})

test('realignDraft returns the end of a draft that is used up', () => {
  const draft = tokensOf(' the| north')
  assert.equal(realignDraft(draft, 2, tokensOf(' and')[0]!), 2)
})
