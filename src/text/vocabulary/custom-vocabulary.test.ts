import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Word } from '../../transcript/transcript.ts'
import { applyVocabulary } from './custom-vocabulary.ts'
import type { CustomVocabularyConfig } from './entries.ts'

type Vocabulary = CustomVocabularyConfig['vocabulary']
type Options = { language?: string; confidence?: number; intensity?: number }

/**
 * Returns words of 0.25 s without pauses; `|` is a pause of a second, `/` begins a new utterance.
 */
function wordsOf(text: string, confidence = 0.5): Word[][] {
  let at = 0
  return text.split(' / ').map((part) => {
    return part.split(' ').flatMap((word) => {
      at += word === '|' ? 1 : 0.25
      return word === '|' ? [] : [{ text: word, start: at - 0.25, end: at, confidence }]
    })
  })
}

function replaceIn(text: string, vocabulary: Vocabulary, options: Options = {}): Word[][] {
  const { language = 'en', confidence, intensity } = options
  const utterances = wordsOf(text, confidence).map((words) => ({ channel: 0, language, words }))
  const config = intensity === undefined ? {} : { default_intensity: intensity }
  return applyVocabulary({ utterances }, { vocabulary, ...config }).utterances.map(
    ({ words }) => words,
  )
}

function read(text: string, vocabulary: Vocabulary, options: Options = {}): string {
  return replaceIn(text, vocabulary, options)
    .map((words) => words.map((word) => word.text).join(' '))
    .join(' / ')
}

test('words that sound like an entry are replaced with it', () => {
  assert.equal(read('our coobernetes is down', ['Kubernetes']), 'our Kubernetes is down')
  assert.equal(read('the cooper netties down', ['Kubernetes']), 'the Kubernetes down')
  assert.equal(read('from an tropic today', ['Anthropic']), 'from Anthropic today')
  assert.equal(read('take me top rolol daily', ['Metoprolol']), 'take Metoprolol daily')
})

test('common words that only resemble an entry are kept', () => {
  const text = 'he called me some day to say that the engine makes a noise'
  const vocabulary = ['Gladia', 'Xiaomi', 'Nginx', 'Kubernetes', 'Nokia']
  assert.equal(read(text, vocabulary), text)
})

test('a common word is kept where a rare homophone is replaced', () => {
  assert.equal(read('the market stays', ['Markott']), 'the market stays')
  assert.equal(read('the markit goes', ['Markott']), 'the Markott goes')
})

test('common words of low confidence are replaced more readily', () => {
  const options = { intensity: 0.5, confidence: 0.5 }
  assert.equal(read('to glad yeah first', ['Gladia'], options), 'to Gladia first')
  assert.equal(
    read('to glad yeah first', ['Gladia'], { ...options, confidence: 1 }),
    'to glad yeah first',
  )
})

test('an entry does not absorb a function word', () => {
  assert.equal(read('read a book', ['Reedabuck']), 'read a book')
  assert.equal(read('please type the script', ['TypeScript']), 'please type the script')
})

test('the first and last sounds must be similar to those of the entry', () => {
  assert.equal(read('a cinquetti board', ['Chinquetti'], { intensity: 1 }), 'a cinquetti board')
  assert.equal(read('the metoprolok', ['Metoprolol'], { intensity: 1 }), 'the metoprolok')
  assert.equal(read('the metokrolol', ['Metoprolol'], { intensity: 1 }), 'the Metoprolol')
})

test('digits are not replaced by a vocabulary entry that sounds alike', () => {
  assert.equal(read('take 4 dinots', ['Fortinets']), 'take 4 dinots')
  assert.equal(read('take fore dinots', ['Fortinets']), 'take Fortinets')
})

test("a higher intensity matches more loosely, and an entry's own overrides the default", () => {
  const text = 'the nakamura son today'
  assert.equal(read(text, ['Nakamurasan'], { intensity: 0.5 }), text)
  assert.equal(read(text, ['Nakamurasan'], { intensity: 1 }), 'the Nakamurasan today')
  const strict = [{ value: 'Nakamurasan', intensity: 0.5 }]
  assert.equal(read(text, strict, { intensity: 1 }), text)
})

test('the default intensity is 0.5', () => {
  const text = 'from an tropik today'
  assert.equal(read(text, ['Anthropic']), read(text, ['Anthropic'], { intensity: 0.5 }))
  assert.equal(read('he uses gravono', ['Grafana']), 'he uses Grafana')
  assert.equal(read('he uses gravono', ['Grafana'], { intensity: 0 }), 'he uses gravono')
})

test('a short entry needs a closer match', () => {
  assert.equal(read('we like loka', ['Loki'], { intensity: 0.5 }), 'we like loka')
})

test('a pronunciation is replaced with its value', () => {
  const vocabulary = [{ value: 'Nginx', pronunciations: ['engine ex'] }]
  assert.equal(read('an engine ex server', vocabulary), 'an Nginx server')
  assert.equal(read('an enjin ecks server', vocabulary), 'an Nginx server')
})

test('a value split into parts is joined', () => {
  assert.equal(
    read('an elastic search cluster', ['Elasticsearch'], { intensity: 0 }),
    'an Elasticsearch cluster',
  )
  assert.equal(read('a gladia Gladia', ['GLADIA']), 'a GLADIA GLADIA')
})

test('a function word is not replaced by an entry of the same letters', () => {
  assert.equal(read('tell us about it', ['US', 'IT']), 'tell us about it')
})

test('an entry with symbols does not match its letters alone', () => {
  assert.equal(read('a c and a net', ['C++', 'C#']), 'a c and a net')
})

test('an entry does not match across utterances, punctuation or pauses', () => {
  const vocabulary = ['Elasticsearch', 'Kubernetes']
  for (const text of [
    'elastic / search',
    'elastic, search',
    'elastic (search',
    "elastic's search",
  ]) {
    assert.equal(read(text, vocabulary), text)
  }
  assert.equal(read('cooper | netties', vocabulary), 'cooper netties')
})

test('a lone punctuation mark is kept', () => {
  assert.equal(read('— elastic search', ['Elasticsearch']), '— Elasticsearch')
})

test('an entry matches up to two additional words', () => {
  const long = 'one two three four'
  assert.equal(read('mett oprolo loll', ['Metoprolol', long]), 'Metoprolol')
  const text = 'mett oppr olo loll'
  assert.equal(read(text, ['Metoprolol', long]), text)
})

test('punctuation around the match and a possessive are kept', () => {
  assert.equal(read('"elastic search\'s. yes', ['Elasticsearch']), '"Elasticsearch\'s. yes')
  assert.equal(read('see coobernetes, then', ['Kubernetes']), 'see Kubernetes, then')
})

test('punctuation at the end of a value is not doubled', () => {
  assert.equal(
    read('by akmee inc.', [{ value: 'Acme Inc.', pronunciations: ['akmee inc'] }]),
    'by Acme Inc.',
  )
})

test('a replacement spans the old words with their mean confidence', () => {
  const words = wordsOf('the elastic search')[0]!
  words[1]!.confidence = 1
  const transcript = { utterances: [{ channel: 0, language: 'en', words }] }
  const { utterances } = applyVocabulary(transcript, { vocabulary: ['Elasticsearch'] })
  const expected = { text: 'Elasticsearch', start: 0.25, end: 0.75, confidence: 0.75 }
  assert.deepEqual(utterances[0]?.words[1], expected)
})

test('a value of several words is one word', () => {
  const words = replaceIn('angelamerkel', ['Angela Merkel'])[0]!
  assert.deepEqual(
    words.map(({ text, start, end }) => [text, start, end]),
    [['Angela Merkel', 0, 0.25]],
  )
})

test('of two matching entries the closer one wins', () => {
  assert.equal(read('use gravana now', ['Gravata', 'Grafana']), 'use Grafana now')
})

test('other languages are matched with their own letter-to-sound rules', () => {
  assert.equal(
    read('herr schmitt kommt', ['Schmidt'], { language: 'de', intensity: 0.5 }),
    'herr Schmidt kommt',
  )
  assert.equal(
    read('monsieur boshan parle', ['Beauchamp'], { language: 'fr', intensity: 1 }),
    'monsieur Beauchamp parle',
  )
})

test('the language of an entry determines its pronunciation', () => {
  const value = 'Beauchamp'
  assert.equal(read('we met bowshon there', [{ value, language: 'fr' }]), 'we met Beauchamp there')
  assert.equal(read('we met bowshon there', [value]), 'we met bowshon there')
})

test('languages without phonetics match only the letters of a value', () => {
  assert.equal(
    read('käytä elastic search nyt', ['Elasticsearch'], { language: 'fi' }),
    'käytä Elasticsearch nyt',
  )
  assert.equal(
    read('käytä coobernetes nyt', ['Kubernetes'], { language: 'fi' }),
    'käytä coobernetes nyt',
  )
  assert.equal(read('我 北 京', ['北京'], { language: 'zh' }), '我 北京')
})

test('a transcript without words is unchanged', () => {
  assert.deepEqual(applyVocabulary({ utterances: [] }, { vocabulary: ['a'] }), { utterances: [] })
})

test('empty, symbolic and extremely long entries are ignored', () => {
  const vocabulary = [
    '',
    ' ',
    '…',
    '(a+)+$',
    '__proto__',
    'x'.repeat(100_000),
    'la '.repeat(50_000),
  ]
  const text = 'a constructor of words / and more'
  assert.equal(read(text, vocabulary, { intensity: 1 }), text)
})

test('the input transcript is not modified', () => {
  const words = wordsOf('elastic search')[0]!
  const transcript = { utterances: [{ channel: 1, language: 'en', words, speaker: 2 }] }
  const before = structuredClone(transcript)
  const { utterances } = applyVocabulary(transcript, { vocabulary: ['Elasticsearch'] })
  assert.deepEqual(transcript, before)
  assert.equal(utterances[0]?.speaker, 2)
})
