import assert from 'node:assert/strict'
import test from 'node:test'
import type { RecognizerCapabilities, RecognizerInfo } from '../engines/recognizer.ts'
import type { RecognitionRequest } from './recognition-request.ts'
import { languagesOf, selectModels } from './select-models.ts'

function recognizer(
  id: string,
  languages: readonly string[],
  capabilities: Partial<RecognizerCapabilities> = {},
): RecognizerInfo {
  const usual = { languages, wordTimes: true, maxSeconds: 30, vocabulary: false }
  return { id, capabilities: { ...usual, ...capabilities } }
}

const english = recognizer('english', ['en'])
const many = recognizer('many', ['de', 'en', 'fr'], { vocabulary: true })
const small = recognizer('small', ['en'])

function select(request: Partial<RecognitionRequest>, finals = [english, many]) {
  const usual = { model: 'stt-1', languages: [], codeSwitching: false, vocabulary: [] }
  return selectModels({ ...usual, ...request }, { finals, partials: [small] })
}

test('languagesOf lists the languages of all recognizers once', () => {
  assert.deepEqual(languagesOf({ finals: [english, many], partials: [] }), ['en', 'de', 'fr'])
})

test('of equal recognizers the first with the language is used', () => {
  for (const model of ['stt-1', 'stt-3']) {
    const { finals, partials, warnings } = select({ model, languages: ['en'] })
    const settings = { language: 'en', languages: ['en'], vocabulary: [] }
    assert.deepEqual(finals, { model: 'english', ...settings })
    assert.deepEqual(partials, { model: 'small', ...settings })
    assert.deepEqual(warnings, [])
  }
})

test('for several languages the recognizer that covers most is used, without a language', () => {
  const { finals } = select({ languages: ['en', 'fr'] })
  assert.deepEqual([finals.model, finals.language], ['many', undefined])
  assert.deepEqual(finals.languages, ['en', 'fr'])
  assert.equal(select({}).finals.model, 'many')
})

test('if no recognizer covers all languages, the chosen one gets those it supports', () => {
  const german = recognizer('german', ['de', 'it'])
  const request = { languages: ['fr', 'de', 'en'] }
  const { finals, partials, warnings } = select(request, [german, english])
  assert.deepEqual([finals.model, finals.language], ['german', 'de'])
  assert.deepEqual(partials, finals)
  assert.deepEqual(warnings, ['language_config: german does not support fr, en'])
})

test('without a small recognizer for the language the large one makes the partials', () => {
  assert.equal(select({ languages: ['de'] }).partials.model, 'many')
})

test('an unsupported language is rejected, or a warning if others are supported', () => {
  assert.throws(() => select({ languages: ['it'] }), { code: 'language_not_installed' })
  const { finals, warnings } = select({ languages: ['it', 'en'] })
  assert.equal(finals.language, 'en')
  assert.deepEqual(warnings, ['language_config: english does not support it'])
})

test('code switching with a monolingual recognizer yields a warning', () => {
  const requested = { languages: [], codeSwitching: true }
  assert.match(
    select(requested, [english]).warnings.join(),
    /^language_config: english supports only en/,
  )
  assert.deepEqual(select(requested).warnings, [])
  assert.deepEqual(select({ ...requested, languages: ['en'] }).warnings, [])
})

test('the vocabulary is passed only to recognizers that support it, without a warning', () => {
  const vocabulary = ['Steno']
  assert.deepEqual(select({ languages: ['fr'], vocabulary }).finals.vocabulary, vocabulary)
  const { finals, warnings } = select({ languages: ['en'], vocabulary })
  assert.deepEqual([finals.vocabulary, warnings], [[], []])
})

test('estimated word times yield a warning', () => {
  const { warnings } = select({}, [recognizer('rough', ['en'], { wordTimes: false })])
  assert.deepEqual(warnings, ['rough does not measure word times: they are estimates'])
})

const fast = { ...recognizer('fast', ['en', 'de']), estimate: { wer: 0.12, realTimeFactor: 0.1 } }
const exact = { ...recognizer('exact', ['en', 'de']), estimate: { wer: 0.05, realTimeFactor: 0.9 } }
const poor = { ...recognizer('poor', ['en', 'de']), estimate: { wer: 0.4, realTimeFactor: 0.01 } }

test('stt-1 is the fastest good model, stt-3 the most accurate, stt-fusion both', () => {
  const all = [poor, exact, fast]
  const selectFinals = (model: string) => select({ model, languages: ['de'] }, all).finals
  assert.equal(selectFinals('stt-1').model, 'fast')
  assert.deepEqual(
    [selectFinals('stt-3').model, selectFinals('stt-3').fusedWith],
    ['exact', undefined],
  )
  const { model, fusedWith } = selectFinals('stt-fusion')
  assert.deepEqual([model, fusedWith], ['exact', 'fast'])
})

test('without a good model the most accurate one is used', () => {
  const worse = { ...recognizer('worse', ['de']), estimate: { wer: 0.5, realTimeFactor: 0.001 } }
  assert.equal(select({ languages: ['de'] }, [worse, poor]).finals.model, 'poor')
})

test('stt-fusion with only one model yields a warning', () => {
  const { finals, warnings } = select({ model: 'stt-fusion', languages: ['de'] }, [fast])
  assert.equal(finals.fusedWith, undefined)
  assert.deepEqual(warnings, [
    'stt-fusion: no second model is installed for de; fast is used alone',
  ])
})

const listener = recognizer('listener', ['en', 'fr', 'de', 'it'], { identifiesLanguages: true })

test('several languages are identified if a model can, each with its own models', () => {
  const { finals, identification, warnings } = select({}, [english, listener])
  assert.equal(finals.model, 'english')
  const models = identification!.languages.map((candidate) => [
    candidate.language,
    candidate.finals.model,
  ])
  assert.deepEqual(models, [
    ['en', 'english'],
    ['fr', 'listener'],
    ['de', 'listener'],
    ['it', 'listener'],
  ])
  assert.deepEqual([identification!.model, identification!.perUtterance], ['listener', false])
  assert.deepEqual(warnings, [])
  assert.equal(select({ codeSwitching: true }, [listener]).identification!.perUtterance, true)
  assert.equal(select({ languages: ['fr'] }, [english, listener]).identification, undefined)
  assert.equal(select({}, [english]).identification, undefined)
})

test('languages without a model are excluded from identification', () => {
  const { identification, warnings } = select({ languages: ['fr', 'ja', 'de'] }, [listener])
  const languages = identification!.languages.map(({ language }) => language)
  assert.deepEqual(languages, ['fr', 'de'])
  assert.deepEqual(warnings, ['language_config: no installed model supports ja'])
})

test('the strictest segment length of the candidate models is used', () => {
  const brief = recognizer('brief', ['en'], { maxSeconds: 10 })
  assert.equal(select({ languages: ['en', 'fr'] }, [brief, listener]).maxSeconds, 10)
  assert.equal(select({ languages: ['fr'] }, [brief, listener]).maxSeconds, 30)
})
