import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { END_TOKEN, englishTokens, textToTokens, tokenPieces, tokensToText } from './tokens.ts'

test('the vocabulary file has the published checksum', () => {
  assert.equal(tokenPieces().length, 32_000)
  const file = readFileSync(new URL('vocabulary.txt', import.meta.url))
  const hash = createHash('sha256').update(file).digest('hex')
  assert.equal(hash, '9b9a3510cb7921863b4f3f89ff456639e15ad66762c0e2f001a843fc039a85d4')
})

test('tokensOf matches the published tokenizer, and textOf restores the text', () => {
  // As LlamaTokenizer writes them.
  assert.deepEqual(textToTokens('Hello world'), [15_043, 3_186])
  assert.deepEqual(textToTokens(' This  is a test. '), [910, 338, 263, 1_243, 29_889])
  assert.deepEqual(textToTokens(''), [])
  const text = "I'd like 3,000 Kubernetes pods – naïve, isn't it? 😀"
  assert.equal(tokensToText(textToTokens(text)), text)
})

test('English is written with Latin letters, and can end', () => {
  const allowed = new Set(englishTokens)
  assert.ok(englishTokens[0] === END_TOKEN)
  const english = textToTokens("“Naïve” cafés – isn't it 3,000 € & 50 %? 😀")
  assert.ok(english.every((token) => allowed.has(token)))
  for (const word of ['就可以', 'привет', '음악', 'שלום']) {
    const letters = textToTokens(word).filter((token) => /\p{L}/u.test(tokenPieces()[token]!))
    assert.ok(letters.length > 0 && !letters.some((token) => allowed.has(token)), word)
  }
})
