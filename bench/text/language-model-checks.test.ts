import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChatModel, ChatRequest } from '../../src/language-services/llm/chat-client.ts'
import { evaluateModel } from './language-model-checks.ts'
import { type EvaluationSet, readSet, selectTasks, textOf } from './language-model-set.ts'

const set: EvaluationSet = {
  transcripts: {
    call: {
      language: 'en',
      text: 'Lena called about order 17. She wants the red lamp, and nothing else than that lamp.',
    },
  },
  prompts: [{ of: 'call', prompt: 'Who called?', has: ['Lena'], lacks: ['Tom'] }],
  extractions: [{ of: 'call', values: { name: ['Lena'], phone: [] } }],
  summaries: [{ of: 'call', style: 'concise', facts: ['lamp'], lacks: ['banana'] }],
  translations: [
    { from: 'en', target: 'de', text: 'Hello [NAME_1], your lamp is on its way.', has: ['Hallo'] },
  ],
  moderation: [
    ['I will hit you.', 'threat'],
    ['Hello.', null],
  ],
  names: [
    { spellings: ['Meyer', 'Maier'], said: ['We met Meyer.', 'Maier left.'], same: true },
    { spellings: ['Marta', 'Marla'], said: ['We met Marta.', 'Marla left.'], same: false },
  ],
}

/** Checks a model that responds with `reply`; returns the failed checks of each task. */
async function failuresOf(reply: (request: ChatRequest) => string) {
  const usage = { requests: 1, prompt_tokens: 0, completion_tokens: 0 }
  const model: ChatModel = {
    complete: async (request) => ({ text: reply(request), usage, isCut: false }),
    contextTokens: 4096,
    async close() {},
  }
  const memoize = <T>(_request: object, make: () => Promise<T>) => make()
  const { signal } = new AbortController()
  const failed: Record<string, string[]> = {}
  let checks = 0
  for await (const one of evaluateModel(set, { model, memoize, signal })) {
    failed[one.task] = [...(failed[one.task] ?? []), ...one.failed]
    checks += one.checks
  }
  return { failed, checks }
}

function respondWell({ system, user, schema }: ChatRequest): string {
  if (schema?.name === 'translation')
    return '{"translations": ["Hallo [NAME_1], die Lampe kommt."]}'
  if (schema?.name === 'extraction') return '{"name": ["Lena"], "phone": []}'
  if (user.includes('Meyer')) return '{"changes": [{"from": "Maier", "to": "Meyer"}]}'
  if (system.includes('threat')) return '{"flags": [{"sentence": 1, "category": "threat"}]}'
  return user.includes('Summarize') ? 'Lena wants the lamp.' : 'Lena.'
}

test('a model that answers well passes every check', async () => {
  const { failed, checks } = await failuresOf(respondWell)
  const tasks = ['prompts', 'extractions', 'summaries', 'translations', 'moderation', 'names']
  assert.deepEqual(failed, Object.fromEntries(tasks.map((task) => [task, []])))
  assert.equal(checks, 21)
})

test('a model that answers with empty text passes no check', async () => {
  const { failed, checks } = await failuresOf(() => '')
  assert.equal(Object.values(failed).flat().length, checks)
})

test('invented facts, wrong formats and wrong languages in answers fail their checks', async () => {
  const wrong: Record<string, string> = {
    extraction: '{"name": ["Lena", "Tom"], "phone": ["555"]}',
    translation: '{"translations": ["Hello [NAME_1], your lamp is on its way."]}',
  }
  const { failed } = await failuresOf((request) => {
    if (request.user.includes('Summarize')) return 'Eins. Zwei. 18 mal banana. Lena will eine lamp.'
    if (request.user.includes('Meyer')) return '{"changes": [{"from": "Marla", "to": "Marta"}]}'
    if (request.system.includes('threat'))
      return '{"flags": [{"sentence": 2, "category": "threat"}]}'
    return wrong[request.schema?.name ?? ''] ?? 'Tom.'
  })
  assert.deepEqual(failed, {
    prompts: ['has Lena', 'lacks Tom'],
    extractions: [
      'name: nothing else',
      'name: nothing invented',
      'phone: nothing else',
      'phone: nothing invented',
    ],
    summaries: ['form', 'shorter than half', 'no new numbers', 'language', 'lacks banana'],
    translations: ['is another text', 'has Hallo'],
    moderation: ['threat', 'null'],
    names: ['true', 'false'],
  })
})

test('a translation that lost most of its text is too short', async () => {
  const { failed } = await failuresOf(() => '{"translations": ["[NAME_1]"]}')
  assert.deepEqual(failed.translations, ['has about its length', 'has Hallo'])
})

test('the check set requests only values that occur in its transcripts', () => {
  const { transcripts, extractions, prompts, summaries } = readSet()
  for (const { of, values } of extractions) {
    for (const value of Object.values(values).flat()) {
      assert.ok(textOf(transcripts[of]!).includes(value), `${of}: ${value}`)
    }
  }
  for (const { of } of [...prompts, ...summaries]) assert.ok(transcripts[of], of)
  const { lecture } = transcripts
  assert.ok(textOf(lecture!).split(/\s+/).length > 2600)
  assert.equal(textOf(lecture!).split('Karvala').length, 2)
})

test('selectTasks returns only the selected tasks and names an unknown one in its error', () => {
  const { prompts, names, moderation, transcripts } = selectTasks(set, ['names', 'prompts'])
  assert.deepEqual({ prompts, names, moderation, transcripts }, { ...pick(set), moderation: [] })
  assert.throws(() => selectTasks(set, ['songs']), /no task songs; there are prompts, extractions/)
})

function pick({ prompts, names, transcripts }: EvaluationSet) {
  return { prompts, names, transcripts }
}
