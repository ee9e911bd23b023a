import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLog, type Log } from '../../observability/log.ts'
import type { Params } from '../add-ons/add-on.ts'
import { LiveText } from './live-text.ts'
import type { SessionText } from './session-text.ts'

const { signal } = new AbortController()
const both = { custom_vocabulary: true, custom_spelling: true }

/** Creates a `LiveText` whose threads misbehave as the words say, and collects its log lines. */
function openFaulty(t: TestContext) {
  const logged: unknown[] = []
  const log = {
    error: (fields: unknown) => logged.push(fields),
    warn: (fields: unknown) => logged.push(fields),
  } as unknown as Log
  const entry = new URL('../../../test/support/text/misbehaving-text-thread.ts', import.meta.url)
  const texts = new LiveText({ log, entry, timeout: 2, now: () => 0 })
  t.after(() => texts.close())
  const open = (params: Params, id = 'a', account = 'acme') => {
    return texts.open({ id, account, params, language: 'en' })
  }
  return { texts, open, logged }
}

function openReal(t: TestContext, params: Params): SessionText {
  // On a busy machine a step may take longer than a session would wait.
  const texts = new LiveText({ log: createLog('silent'), timeout: 60 })
  t.after(() => texts.close())
  return texts.open({ id: 'a', account: 'acme', params, language: 'en' })
}

function utterances(text: string) {
  const words = text.split(' ').map((word, i) => {
    return { text: word, start: i, end: i + 0.5, confidence: 0.9 }
  })
  return { channel: 0, language: 'en', words }
}

async function changed(text: SessionText, words: string, isPartial = false): Promise<string> {
  const written = await text.applyTransforms(utterances(words), { signal, isPartial })
  return written.map(({ text }) => text).join(' ')
}

function utterancesOf(text: string, language = 'en'): string {
  const words = utterances(text).words.map(({ text, ...word }) => ({ ...word, word: ` ${text}` }))
  return JSON.stringify([{ channel: 1, language, words }])
}

test('words are changed by the vocabulary, then by the spelling', async (t) => {
  const text = openReal(t, {
    ...both,
    custom_vocabulary_config: { vocabulary: [{ value: 'Akmee', pronunciations: ['acme'] }] },
    custom_spelling_config: { spelling_dictionary: { AKMEE: ['akmee'] } },
  })
  assert.equal(await changed(text, 'the acme report'), 'the AKMEE report')
  assert.equal(await changed(text, 'the acme report', true), 'the AKMEE report')
})

test('an utterance begins with a capital if the word before it ended a sentence', async (t) => {
  const text = openReal(t, {})
  const begin = async (wordBefore?: string, spoken = 'and lower in intensity.') => {
    const [first] = await text.applyTransforms(utterances(spoken), { signal, wordBefore })
    return first!.text
  }
  assert.equal(await begin('slow.'), 'And')
  assert.equal(await begin('slow?'), 'And')
  for (const before of ['slow', 'slow,', 'Dr.', 'slow...', undefined]) {
    assert.equal(await begin(before), 'and')
  }
  assert.equal(await begin('slow.', 'iPhones are here'), 'iPhones')
})

test('the pronoun I gets its capital once the session had capitals', async (t) => {
  const text = openReal(t, {})
  assert.equal(await changed(text, 'i could not help'), 'i could not help')
  assert.equal(await changed(text, 'Margaret said'), 'Margaret said')
  assert.equal(await changed(text, 'i could not help'), 'I could not help')
})

test('only requested steps are applied', async (t) => {
  const { open } = openFaulty(t)
  assert.equal(await changed(open({ custom_spelling: true }), 'hang'), 'hang!')
  assert.equal(await changed(open({}, 'b'), 'crash'), 'crash')
})

test('a large vocabulary is prepared in a separate thread', async (t) => {
  const { open } = openFaulty(t)
  const custom_vocabulary_config = { vocabulary: Array(501).fill('a') }
  const params = { custom_vocabulary: true }
  for (const id of ['a', 'b']) assert.match(await changed(open(params, id), 'who'), /a/)
  const opened = open({ ...params, custom_vocabulary_config }, 'c')
  assert.equal(await changed(opened, 'who'), 'c')
  assert.equal(await changed(open(params, 'd'), 'who'), 'a b d')
  await opened.close()
})

test('prepare() starts threads before the client connects, without session data', async (t) => {
  const { texts, open, logged } = openFaulty(t)
  const custom_vocabulary_config = { vocabulary: ['crash'] }
  for (let i = 0; i < 2; i++) {
    texts.prepare({ params: { ...both, custom_vocabulary_config }, language: 'en' })
  }
  const opened = 'preparation of custom_vocabulary, custom_spelling in en'
  assert.equal(await changed(open(both), 'who'), `${opened} a!`)
  texts.prepare({ params: { summarization: true }, language: 'en' })
  const { results } = await open({}, 'b').runAddOn('summarization', 'who', { signal })
  assert.equal(results, 'preparation of summarization in en b')
  assert.deepEqual(logged, [])
})

test('an interrupted preparation is not an error, and none starts without steps', async (t) => {
  const { texts, open, logged } = openFaulty(t)
  texts.prepare({ params: { translation: true }, language: 'en' })
  assert.equal(await changed(open({ custom_vocabulary: true }), 'who'), 'a')
  const custom_vocabulary_config = { vocabulary: Array(501).fill('a') }
  texts.prepare({ params: { ...both, custom_vocabulary_config }, language: 'en' })
  await open({ ...both, custom_vocabulary_config }, 'b').close()
  texts.prepare({ params: both, language: 'fr' })
  await texts.close()
  assert.deepEqual(logged, [])
})

test('a spare thread is prepared for a large vocabulary and used by one session', async (t) => {
  const { texts, open } = openFaulty(t)
  const large = {
    custom_vocabulary: true,
    custom_vocabulary_config: { vocabulary: Array(501).fill('a') },
  }
  for (let i = 0; i < 2; i++) texts.prepare({ params: large, language: 'en' })
  const opened = 'preparation of custom_vocabulary in en'
  assert.equal(await changed(open(large, 'a'), 'who'), `${opened} a`)
  assert.equal(await changed(open(large, 'b'), 'who'), 'b')
  assert.equal(await changed(open({ custom_vocabulary: true }, 'c'), 'who'), 'c')
})

test('entities and sentiments of an utterance are native, with times and channel', async (t) => {
  const text = openReal(t, {})
  const entities = await text.runAddOn(
    'named_entity_recognition',
    utterancesOf('My name is Lena.'),
    {
      signal,
    },
  )
  assert.deepEqual(entities.results, [
    { entity_type: 'NAME_GIVEN', text: 'Lena', start: 3, end: 3.5 },
  ])
  const moods = await text.runAddOn('sentiment_analysis', utterancesOf('I love it.'), { signal })
  const [mood] = moods.results as { sentiment: string; channel: number }[]
  assert.deepEqual([mood!.sentiment, mood!.channel], ['positive', 1])
  const nothing = await text.runAddOn('named_entity_recognition', utterancesOf('And so it is.'), {
    signal,
  })
  assert.deepEqual([nothing.success, nothing.results], [true, []])
})

test('an unsupported language is an error of the add-on', async (t) => {
  const text = openReal(t, {})
  const { success, error } = await text.runAddOn('sentiment_analysis', utterancesOf('Oui.', 'fr'), {
    signal,
  })
  assert.deepEqual([success, error?.exception], [false, 'LanguageNotSupported'])
})

test('a summary has the type that the session requested', async (t) => {
  const text = openReal(t, { summarization_config: { type: 'bullet_points' } })
  const { results } = await text.runAddOn('summarization', utterancesOf('It rains today.'), {
    signal,
  })
  assert.equal(results, '- It rains today.')
})

for (const how of ['hang', 'crash']) {
  test(`a step that must ${how} is skipped from then on, and others are not`, async (t) => {
    const { open, logged } = openFaulty(t)
    const text = open(both)
    assert.equal(await changed(text, 'a'), 'a?!')
    assert.equal(await changed(text, how), `${how}!`)
    assert.equal(await changed(text, 'b'), 'b!')
    assert.equal(await changed(open(both, 'other'), 'b'), 'b?!')
    const fault = how === 'hang' ? 'hung' : 'crashed'
    assert.deepEqual(logged, [{ sessionId: 'a', step: 'custom_vocabulary', fault }])
  })

  test(`an add-on that must ${how} is an error, and queued ones are done`, async (t) => {
    const { open } = openFaulty(t)
    const text = open({})
    const [lost, next] = await Promise.all([
      text.runAddOn('named_entity_recognition', how, { signal }),
      text.runAddOn('sentiment_analysis', 'a', { signal }),
    ])
    const exception = how === 'hang' ? 'AddonTimeout' : 'AddonFailed'
    assert.deepEqual([lost.success, lost.error?.exception], [false, exception])
    assert.equal(next.results, 'a')
  })
}

test('a step that throws leaves that utterance unchanged and is tried again', async (t) => {
  const { open, logged } = openFaulty(t)
  const text = open(both)
  assert.equal(await changed(text, 'throw'), 'throw!')
  assert.equal(await changed(text, 'a'), 'a?!')
  assert.deepEqual(logged, [{ sessionId: 'a', step: 'custom_vocabulary', fault: 'TypeError' }])
  assert.equal((await text.runAddOn('summarization', 'throw', { signal })).success, false)
})

test('finals precede partials, and partials precede preparations', async (t) => {
  const { open } = openFaulty(t)
  const text = open({ custom_spelling: true })
  const order: string[] = []
  const busy = text.runAddOn('named_entity_recognition', 'a', { signal })
  const partial = changed(text, 'a', true).then(() => order.push('partial'))
  const final = changed(text, 'a').then(() => order.push('final'))
  await Promise.all([busy, partial, final])
  assert.deepEqual(order, ['final', 'partial'])
})

test('a canceled task ends at once, even behind a step that hangs', async (t) => {
  const { open } = openFaulty(t)
  const text = open(both)
  const leaving = new AbortController()
  const hanging = text.applyTransforms(utterances('hang'), { signal: leaving.signal })
  const waiting = text.runAddOn('sentiment_analysis', 'a', { signal: leaving.signal })
  leaving.abort(new Error('the session is left'))
  await assert.rejects(hanging, /is left/)
  await assert.rejects(waiting, /is left/)
  await assert.rejects(text.applyTransforms(utterances('a'), { signal: leaving.signal }), /is left/)
})

test('a closed session can be opened again', async (t) => {
  const { open } = openFaulty(t)
  const first = open(both)
  assert.equal(await changed(first, 'who'), 'a!')
  await first.close()
  assert.equal(await changed(open(both), 'who'), 'a a!')
})

test('a session that repeatedly delays others gets a separate thread', async (t) => {
  const { open } = openFaulty(t)
  const params = { custom_vocabulary: true }
  const slow = open(params)
  assert.equal(await changed(open(params, 'b', 'other'), 'who'), 'a b')
  for (let i = 0; i < 3; i++) await changed(slow, 'cost 21')
  assert.equal(await changed(slow, 'who'), 'a')
  assert.equal(await changed(open(params, 'c', 'other'), 'who'), 'a b c')
})

test('an account that crashed the shared thread loses it, and others keep theirs', async (t) => {
  const { open } = openFaulty(t)
  await changed(open({ custom_vocabulary: true }), 'crash')
  assert.equal(await changed(open({ custom_vocabulary: true }, 'b', 'other'), 'who'), 'b')
  assert.equal(await changed(open({ custom_vocabulary: true }, 'c'), 'who'), 'c')
  assert.equal(await changed(open({ custom_vocabulary: true }, 'd', 'other'), 'who'), 'b d')
})

test('a step that exceeds its time budget is skipped, with one warning', async (t) => {
  const { open, logged } = openFaulty(t)
  const text = open(both)
  await changed(text, 'first')
  assert.deepEqual(text.warnings(), [])
  await changed(text, 'cost 15001')
  assert.equal(await changed(text, 'a'), 'a!')
  assert.equal(await changed(text, 'a'), 'a!')
  assert.equal(text.warnings().length, 1)
  assert.match(text.warnings()[0]!, /^custom_vocabulary is skipped from now on/)
  assert.equal(logged.length, 1)
})

test('an account has at most two separate threads', async (t) => {
  const { open } = openFaulty(t)
  const custom_vocabulary_config = { vocabulary: Array(501).fill('a') }
  const params = { custom_vocabulary: true, custom_vocabulary_config }
  const all = ['a', 'b', 'c'].map((id) => open(params, id))
  const opened = await Promise.all(all.map((text) => changed(text, 'who')))
  assert.deepEqual(opened.slice(0, 2), ['a', 'b'])
  assert.equal(opened[2], 'a c')
  for (const text of all) await text.close()
})

test('ignored entries are reported in the warnings, and logged once', async (t) => {
  const warned: unknown[] = []
  const log = { warn: (fields: unknown) => warned.push(fields) } as unknown as Log
  const texts = new LiveText({ log })
  t.after(() => texts.close())
  const custom_spelling_config = { spelling_dictionary: { ['x'.repeat(250_000)]: ['a'] } }
  const params = { custom_spelling: true, custom_spelling_config }
  const text = texts.open({ id: 'a', account: 'acme', params, language: 'en' })
  for (let i = 0; i < 3; i++) assert.equal(await changed(text, 'a a a'), 'a a a')
  assert.match(text.warnings()[0]!, /^custom_spelling: 1 of the entries were ignored/)
  assert.equal(warned.length, 1)
})

test('tasks queued behind a step that hung are skipped', async (t) => {
  const { open, logged } = openFaulty(t)
  const text = open({ custom_vocabulary: true })
  const all = ['hang', 'who', 'a'].map((words) => changed(text, words))
  assert.deepEqual(await Promise.all(all), ['hang', 'who', 'a'])
  assert.equal(logged.length, 1)
})
