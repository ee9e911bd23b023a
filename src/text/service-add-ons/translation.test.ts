import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Utterance, Word } from '../../transcript/transcript.ts'
import { type UtteranceView, viewUtterance } from '../../transcript/utterance-view.ts'
import { AddOnFailedError } from '../result/steps/envelope.ts'
import { translation } from './translation.ts'

type Result = { error: object | null; full_transcript: string; utterances: UtteranceView[] }

/** Words of half a second from `start` on, with a pause of a second after each comma. */
function say(text: string, start: number, rest: Partial<Utterance> = {}): Utterance {
  let at = start
  const words = text.split(' ').map((word): Word => {
    const spoken = { text: word, start: at, end: at + 0.5, confidence: 0.9 }
    at += word.endsWith(',') ? 1.5 : 0.5
    return spoken
  })
  return { channel: 0, language: 'en', words, ...rest }
}

/** Translates into French with a response for each text that the add-on asks for. */
function translate(
  utterances: Utterance[],
  responses: Record<string, string>,
  config: Record<string, unknown> = {},
) {
  const params = { translation_config: { target_languages: ['fr'], ...config }, subtitles: true }
  const requests = translation.prepare({ utterances }, params)
  const asked = requests.flatMap((request) => request.texts as string[])
  const given = requests.map((request) => ({
    texts: (request.texts as string[]).map((text) => responses[text]),
  }))
  const { results } = translation.merge({ utterances }, params, given, { format: 'string' })
  const [result] = results as (Result & { subtitles: { subtitles: string }[] })[]
  return { asked, requests, ...result! }
}

function timesOf({ words }: UtteranceView) {
  return words.map(({ word, start, end }) => [word, start, end])
}

test('translated words follow the original words and pauses', () => {
  const spoken = say('Well, goodbye then', 1)
  const { utterances, subtitles } = translate([spoken], {
    'Well, goodbye then': 'Eh bien, au revoir alors',
  })
  assert.deepEqual(timesOf(utterances[0]!), [
    ['Eh bien,', 1, 1.5],
    [' au revoir', 2.5, 3],
    [' alors', 3, 3.5],
  ])
  assert.equal(utterances[0]!.text, 'Eh bien, au revoir alors')
  // Captions see the words one by one.
  assert.match(subtitles[0]!.subtitles, /00:00:01,000 --> 00:00:03,500\nEh bien, au revoir alors/)
})

test('an utterance has the confidence of its original', () => {
  const spoken = say('Well, goodbye then', 1)
  for (const [i, word] of spoken.words.entries()) word.confidence = [0.1234, 0.4567, 0.9876][i]!
  for (const lipsync of [true, false]) {
    const responses = { 'Well, goodbye then': 'Au revoir alors' }
    const { utterances } = translate([spoken], responses, { lipsync })
    assert.equal(utterances[0]!.confidence, viewUtterance(spoken).confidence)
  }
  // Also where the words were read from a result, which has three digits of each.
  const { words, confidence } = viewUtterance(spoken)
  const again = { ...spoken, words: words.map(({ word, ...rest }) => ({ ...rest, text: word })) }
  assert.equal(viewUtterance(again).confidence, confidence)
})

test('a translation with fewer words covers the whole original', () => {
  const { utterances } = translate([say('What is your name', 0)], { 'What is your name': 'Nom ?' })
  const [first, last] = [utterances[0]!.words[0]!, utterances[0]!.words.at(-1)!]
  assert.deepEqual([first.start, last.end], [0, 2])
})

test('without lipsync every word has its own time by length', () => {
  const { utterances } = translate(
    [say('Goodbye', 1)],
    { Goodbye: 'Au revoir' },
    { lipsync: false },
  )
  assert.deepEqual(timesOf(utterances[0]!), [
    ['Au', 1, 1.125],
    [' revoir', 1.125, 1.5],
  ])
})

test('a sentence across utterances is translated as one unless they must match', () => {
  const spoken = [say('I would like', 0), say('two coffees.', 3), say('Thanks.', 4.5)]
  const responses = {
    'I would like two coffees.': 'Je voudrais deux cafés.',
    'I would like': 'Je voudrais',
    'two coffees.': 'deux cafés.',
    'Thanks.': 'Merci.',
  }
  const joined = translate(spoken, responses, { match_original_utterances: false })
  assert.deepEqual(
    joined.utterances.map(({ text, start, end }) => [text, start, end]),
    [
      ['Je voudrais deux cafés.', 0, 4],
      ['Merci.', 4.5, 5],
    ],
  )
  assert.equal(translate(spoken, responses).utterances.length, 3)
})

test('utterances of other speakers, languages or after a long pause are not joined', () => {
  const others = [{ channel: 1 }, { speaker: 2 }, { language: 'de' }]
  for (const other of others) {
    const spoken = [say('I would like', 0), say('two coffees', 2, other)]
    const { asked } = translate(spoken, {}, { match_original_utterances: false })
    assert.equal(asked.length, 2, JSON.stringify(other))
  }
  const late = [say('I would like', 0), say('two coffees', 9)]
  assert.equal(translate(late, {}, { match_original_utterances: false }).asked.length, 2)
})

test('text in the target language is copied without a request', () => {
  const { asked, utterances } = translate([say('Merci bien.', 0, { language: 'fr' })], {})
  assert.deepEqual([asked, utterances[0]!.text], [[], 'Merci bien.'])
})

test('a failed target reports its error, and if all fail the add-on fails', () => {
  const params = { translation_config: { target_languages: ['fr', 'en'] } }
  const error = { status_code: 501, exception: 'NotConfigured', message: 'no model' }
  const transcript = { utterances: [say('Hello.', 0)] }
  const { results } = translation.merge(transcript, params, [{ error }], { format: 'string' })
  const [french, english] = results as Result[]
  assert.deepEqual(french, { error, full_transcript: '', languages: ['fr'], utterances: [] })
  assert.deepEqual([english!.error, english!.full_transcript], [null, 'Hello.'])
  const alone = { translation_config: { target_languages: ['fr'] } }
  assert.throws(
    () => translation.merge(transcript, alone, [{ error }], { format: 'string' }),
    (thrown: unknown) => {
      assert.ok(thrown instanceof AddOnFailedError)
      assert.deepEqual(thrown.error, error)
      return true
    },
  )
  const two = { translation_config: { target_languages: ['fr', 'de'] } }
  const responses = ['no fr', 'no de'].map((message) => ({ error: { ...error, message } }))
  assert.throws(
    () => translation.merge(transcript, two, responses, { format: 'string' }),
    (thrown: unknown) => {
      assert.deepEqual((thrown as AddOnFailedError).error, { ...error, message: 'no fr; no de' })
      return true
    },
  )
})

test('a request for English includes the audio spans, unless words are hidden', () => {
  const first = say('uno dos', 1, { language: 'es' })
  const long = say(Array(80).fill('y').join(' '), 10, { language: 'es', channel: 1 })
  const ask = (target: string, rest = {}) => {
    const params = { translation_config: { target_languages: [target] }, ...rest }
    return translation.prepare({ utterances: [first, long] }, params)[0]!.spoken
  }
  assert.deepEqual(ask('en'), [
    { channel: 0, spans: [[1, 2]] },
    {
      channel: 1,
      spans: [
        [10, 37],
        [37, 50],
      ],
    },
  ])
  assert.equal(ask('de'), undefined)
  assert.equal(ask('en', { pii_redaction: true }), undefined)
})

test('a request includes the custom spellings in its texts', () => {
  const custom = { SQL: ['sequel'], Steno: ['stenno'], '.': ['period'] }
  const spelling = {
    custom_spelling: true,
    custom_spelling_config: { spelling_dictionary: custom },
  }
  const params = { translation_config: { target_languages: ['fr'] } }
  const utterances = [say('We use SQL.', 0)]
  const [request] = translation.prepare({ utterances }, { ...params, ...spelling })
  assert.deepEqual(request!.terms, ['SQL'])
  const [plain] = translation.prepare(
    { utterances },
    { ...params, ...spelling, custom_spelling: false },
  )
  assert.ok(!('terms' in plain!))
})
