import assert from 'node:assert/strict'
import test from 'node:test'
import { findLookAlikes } from './look-alike-names.ts'

function groupsOf(language: string, ...texts: string[]): string[][] {
  const utterances = texts.map((text, at) => {
    const words = text.split(' ').map((word, i) => {
      return { text: word, start: at * 10 + i, end: at * 10 + i + 1, confidence: 0.9 }
    })
    return { channel: 0, language, words }
  })
  return findLookAlikes(utterances).map(({ spellings }) => spellings.map((one) => one.spelling))
}

test('names with similar letters and equal ends look alike in any language', () => {
  assert.deepEqual(groupsOf('de', 'Herr Meyer kam', 'von Maier', 'und Meyer ging'), [
    ['Meyer', 'Maier'],
  ])
  assert.deepEqual(groupsOf('fr', 'avec Hélène', 'pour Helene'), [['Hélène', 'Helene']])
  assert.deepEqual(groupsOf('ru', 'это Толстой', 'про Талстой'), [['Толстой', 'Талстой']])
  assert.deepEqual(groupsOf('en', 'ask Kowalczyk', 'ask Covalczyk'), [['Kowalczyk', 'Covalczyk']])
})

test('names with other ends, short names and German plurals do not look alike', () => {
  const apart: [language: string, ...texts: string[]][] = [
    ['pl', 'to Kowalski', 'dla Kowalska'],
    ['de', 'mit Jan', 'mit Jen'],
    ['de', 'der Vater', 'die Väter'],
    ['de', 'mit Schneider', 'mit Schallger'],
    ['en', 'ask Barton', 'ask Carton'],
    ['en', 'ask Mister Brown', 'ask Mister Crown'],
  ]
  for (const [language, ...texts] of apart) {
    assert.deepEqual(groupsOf(language, ...texts), [], texts.join())
  }
})

test('names in one sentence are not grouped', () => {
  assert.deepEqual(groupsOf('de', 'Herr Meyer und Herr Maier', 'von Meyer', 'von Maier'), [])
})

test('each spelling has its count and surrounding words', () => {
  const words = 'a b c d e f g Meyer h i j k l m n'.split(' ').map((text, i) => {
    return { text, start: i, end: i + 1, confidence: 0.9 }
  })
  const other = { text: 'Meier', start: 20, end: 21, confidence: 0.9 }
  const [group] = findLookAlikes([
    { channel: 0, language: 'de', words },
    { channel: 0, language: 'de', words: [words[0]!, other] },
    { channel: 0, language: 'de', words: [words[0]!, other] },
  ])
  assert.deepEqual(group!.spellings, [
    { spelling: 'Meier', count: 2, said: 'a Meier' },
    { spelling: 'Meyer', count: 1, said: 'b c d e f g Meyer h i j k l m' },
  ])
})
