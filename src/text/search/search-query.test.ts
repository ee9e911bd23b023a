import assert from 'node:assert/strict'
import test from 'node:test'
import { findHighlights, parseSearchQuery } from './search-query.ts'
import { foldMarks, splitWords } from './search-words.ts'

const wordsOf = (text: string) => splitWords(text).map((word) => word.text)

test('words are letters, digits and marks, single characters in scripts without spaces', () => {
  assert.deepEqual(wordsOf("Don't e-mail l'HÔTEL 3.5!"), [
    'don',
    't',
    'e',
    'mail',
    'l',
    'hôtel',
    '3',
    '5',
  ])
  assert.deepEqual(wordsOf('東京タワー in Tokyo'), ['東', '京', 'タ', 'ワ', 'ー', 'in', 'tokyo'])
  assert.deepEqual(wordsOf('हिन्दी में, สวัสดี'), ['हिन्दी', 'में', 'ส', 'วั', 'ส', 'ดี'])
  assert.deepEqual(splitWords('a bc')[1], { text: 'bc', start: 2, end: 4 })
  assert.deepEqual(['naïve', 'Straße', 'Ελλάδα', 'हिन्दी'].map(foldMarks), [
    'naive',
    'Strasse',
    'Ελλαδα',
    'हिन्दी',
  ])
  assert.deepEqual(['møller', 'łódź', 'cœur'].map(foldMarks), ['moller', 'lodz', 'coeur'])
})

test('a query is parsed into words, phrases, exclusions and prefixes by language', async () => {
  const [english, plain] = (await parseSearchQuery('"Running houses" -cars polic*', ['en']))!
  assert.deepEqual(english, {
    must: [
      { terms: ['run', 'hous'], isPrefix: false },
      { terms: ['polic'], isPrefix: true },
    ],
    not: ['car', 'cars'].map((term) => ({ terms: [term], isPrefix: false })),
  })
  assert.deepEqual(plain!.must[0]!.terms, ['running', 'houses'])
  assert.equal(
    (await parseSearchQuery('zanzibar', ['en', 'de']))!.length,
    1,
    'all make the same term',
  )
  for (const none of ['', '   ', '-no', '""', '*', '" - "'])
    assert.equal(await parseSearchQuery(none, ['en']), undefined, none)
})

test('highlights are the matching words in order', async () => {
  const text = 'The red house, a house that is RED.'
  const find = async (q: string) => {
    const query = (await parseSearchQuery(q, ['en']))!
    const places = await findHighlights(text, { query, language: 'en' })
    return places.map(([start, end]) => text.slice(start, end))
  }
  assert.deepEqual(await find('houses'), ['house', 'house'])
  assert.deepEqual(await find('"red houses"'), ['red', 'house'])
  assert.deepEqual(await find('th*'), ['The', 'that'])
})
