import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { after, before } from 'node:test'
import { UsageError } from '../../terminal/arguments.ts'
import { readSpellingFile } from './spelling-file.ts'
import { readVocabularyFile } from './vocabulary-file.ts'

let file: string
before(async () => {
  file = join(await mkdtemp(join(tmpdir(), 'steno-test-')), 'words.json')
})
after(() => rm(join(file, '..'), { recursive: true }))

async function vocabularyOf(content: unknown) {
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return readVocabularyFile(file)
}

async function spellingOf(content: unknown) {
  await writeFile(file, JSON.stringify(content))
  return readSpellingFile(file)
}

async function refusal(reading: Promise<unknown>): Promise<string> {
  const error = await reading.then(
    () => assert.fail('was not refused'),
    (error: unknown) => error,
  )
  assert.ok(error instanceof UsageError, String(error))
  return error.message.replaceAll(file, 'FILE')
}

const entry = { value: 'Nginx', intensity: 0.4, pronunciations: ['engine ex'], language: 'en-US' }

test('a vocabulary file holds a list of entries or the whole configuration', async () => {
  const list = ['Kubernetes', entry]
  assert.deepEqual(await vocabularyOf(list), { vocabulary: list })
  const config = { vocabulary: list, default_intensity: 0 }
  assert.deepEqual(await vocabularyOf(config), config)
  assert.deepEqual(await vocabularyOf(`\uFEFF["a"]`), { vocabulary: ['a'] })
})

test('an unreadable file, or one that is not JSON, is reported by its name', async () => {
  assert.equal(
    await refusal(readVocabularyFile('/no/such.json')),
    'Cannot read /no/such.json: the file does not exist',
  )
  assert.match(await refusal(readVocabularyFile('/')), /^Cannot read \/: it is a folder$/)
  assert.match(await refusal(vocabularyOf('["a",]')), /^Cannot read FILE: it is not JSON: .*"a",\]/)
  const binary = await refusal(vocabularyOf('fLaC\u0000\u001b[2J\n'))
  assert.match(binary, /it is not JSON: .*"fLaC\?\?\[2J\?"/)
})

test('errors in a vocabulary file are reported with their place', async () => {
  const cases: [content: unknown, message: string][] = [
    ['7', "FILE must have a 'vocabulary'"],
    [{}, "FILE: 'vocabulary' must be a list"],
    [{ vocabulary: {} }, "FILE: 'vocabulary' must be a list"],
    [{ vocabulary: [], words: [] }, "FILE has 'words', known are: vocabulary, default_intensity"],
    [
      { vocabulary: [], default_intensity: '1' },
      "FILE: 'default_intensity' must be a number from 0 to 1",
    ],
    [['a', 7], "FILE: entry 2 must have a 'value'"],
    [['a', ' '], "FILE: entry 2: 'value' must be a text"],
    [[{ intensity: 1 }], "FILE: entry 1: 'value' must be a text"],
    [[{ ...entry, intensity: 2 }], "FILE: entry 1: 'intensity' must be a number from 0 to 1"],
    [[{ ...entry, intensity: -1 }], "FILE: entry 1: 'intensity' must be a number from 0 to 1"],
    [
      [{ ...entry, pronunciations: [1] }],
      "FILE: entry 1: 'pronunciations' must be a list of texts",
    ],
    [
      [{ ...entry, language: 'english' }],
      "FILE: entry 1: 'language' must be the code of a language, such as en",
    ],
    [
      [{ ...entry, sounds: 'x' }],
      "FILE: entry 1 has 'sounds', known are: value, intensity, pronunciations, language",
    ],
  ]
  for (const [content, message] of cases) {
    assert.equal(await refusal(vocabularyOf(content)), message)
  }
})

test('a spelling file holds a dictionary or the whole configuration', async () => {
  const dictionary = { ACME: ['acme', 'ack me'] }
  const config = { spelling_dictionary: dictionary }
  assert.deepEqual(await spellingOf(dictionary), config)
  assert.deepEqual(await spellingOf(config), config)
})

test('errors in a spelling file are reported with the spelling', async () => {
  const problem = 'must map each spelling to a list of the words it replaces'
  for (const content of [['acme'], null, 'x']) {
    assert.equal(await refusal(spellingOf(content)), `FILE ${problem}`)
  }
  for (const content of [['a'], 'acme', null]) {
    const message = await refusal(spellingOf({ spelling_dictionary: content }))
    assert.equal(message, `FILE: 'spelling_dictionary' ${problem}`)
  }
  assert.equal(
    await refusal(spellingOf({ spelling_dictionary: {}, ACME: ['acme'] })),
    "FILE has 'ACME' beside 'spelling_dictionary'",
  )
  for (const variants of ['acme', ['acme', 7], { a: [] }]) {
    assert.equal(
      await refusal(spellingOf({ Mr: ['mister'], ACME: variants })),
      "FILE: 'ACME' must be a list of the words it replaces",
    )
  }
})
