import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBias, followBias, preparePieces } from './vocabulary-bias.ts'

const list = [
  '', // Stands for the end.
  ...['▁the', '▁cat', '▁Kub', '▁kub', 'ern', 'etes', '▁cube', '▁New', '▁York', '▁K', 'u', 'b'],
  ...['.', '▁york', '▁Now', 'e', 's'],
]
const pieces = preparePieces(list)
const bias = createBias(pieces, ['Kubernetes', 'new york'], 1.5)!

/** Logits that are 10 for one piece, and what is stated for others. */
function logitsOf(likeliest: string, others: Record<string, number> = {}): Float32Array {
  const logits = new Float32Array(list.length).fill(-20)
  logits[list.indexOf(likeliest)] = 10
  for (const [piece, logit] of Object.entries(others)) logits[list.indexOf(piece)] = logit
  return logits
}

function follow(unbiasedPositions: number[] = []) {
  const text = followBias(bias, new Set(unbiasedPositions))
  return (likeliest: string, others: Record<string, number> = {}) => {
    const token = text.choose(logitsOf(likeliest, others), list.indexOf(likeliest))
    return {
      piece: list[token],
      rewindTo: text.write(list[token] === '' ? 'end' : token, list.indexOf(likeliest)),
    }
  }
}

test('a vocabulary entry that is nearly as likely is chosen token by token, in any case', () => {
  const write = follow()
  assert.equal(write('▁cube', { '▁Kub': 9 }).piece, '▁Kub')
  assert.equal(write('s', { ern: 8 }).piece, 'ern')
  assert.equal(write('.', { etes: 7.5 }).piece, 'etes')
  assert.deepEqual(write('.'), { piece: '.', rewindTo: undefined })
  assert.equal(follow()('▁cube', { '▁kub': 9 }).piece, '▁kub')
})

test('a vocabulary entry that is much less likely is not chosen', () => {
  assert.equal(follow()('▁cube', { '▁Kub': 5 }).piece, '▁cube')
})

test('the bonus grows within an entry, and a single letter gets less', () => {
  assert.equal(follow()('▁cube', { '▁Kub': 8 }).piece, '▁cube')
  const write = follow()
  write('▁Kub')
  assert.equal(write('s', { ern: 8 }).piece, 'ern')
  assert.equal(follow()('▁cube', { '▁K': 9 }).piece, '▁cube')
})

test('an incomplete entry is rewound to its start and not tried there again', () => {
  const write = follow()
  assert.equal(write('▁the').piece, '▁the')
  assert.equal(write('▁cube', { '▁Kub': 9 }).piece, '▁Kub')
  assert.deepEqual(write('s'), { piece: 's', rewindTo: 1 })
  const again = follow([1])
  again('▁the')
  assert.equal(again('▁cube', { '▁Kub': 9 }).piece, '▁cube')
})

test('an incomplete entry at the end of the text is rewound', () => {
  const write = follow()
  write('▁cube', { '▁Kub': 9 })
  assert.deepEqual(write(''), { piece: '', rewindTo: 0 })
})

test('a word that the model started itself is never rewound', () => {
  const write = follow()
  assert.equal(write('▁Kub').piece, '▁Kub')
  assert.deepEqual(write('s'), { piece: 's', rewindTo: undefined })
})

test('an entry that is only the beginning of a longer word is rewound', () => {
  const write = follow()
  write('▁Now', { '▁New': 9 })
  write('▁cat', { '▁york': 8 })
  assert.equal(write('s').rewindTo, 0)
})

test('phrases span words, and no entry replaces an end or punctuation token', () => {
  const write = follow()
  assert.equal(write('▁Now', { '▁New': 9 }).piece, '▁New')
  assert.equal(write('▁cat', { '▁york': 8 }).piece, '▁york')
  assert.equal(write('.').rewindTo, undefined)
  assert.equal(follow()('', { '▁Kub': 9.9 }).piece, '')
  assert.equal(follow()('.', { '▁Kub': 9.9 }).piece, '.')
})

test('createBias returns undefined without usable entries', () => {
  assert.equal(createBias(pieces, [], 1), undefined)
  assert.equal(createBias(pieces, ['a', '--', ' '], 1), undefined)
})

test('ten thousand entries are prepared and used within a second', () => {
  const syllables = ['ka', 'lo', 'mi', 'ne', 'ru', 'sa', 'to', 'vi', 'be', 'du']
  const many = [...syllables, ...syllables.map((s) => `▁${s}`), ...list]
  const prepared = preparePieces(many)
  const entries = Array.from({ length: 10_000 }, (_, i) => {
    return [...String(i).padStart(4, '0')].map((digit) => syllables[Number(digit)]).join('')
  })
  const started = performance.now()
  const text = followBias(createBias(prepared, entries, 1.5)!, new Set())
  const logits = new Float32Array(many.length)
  for (let i = 0; i < 1000; i++) text.write(text.choose(logits, 10 + (i % 10)), 10 + (i % 10))
  assert.ok(performance.now() - started < 1000)
})
