import assert from 'node:assert/strict'
import test from 'node:test'
import type { ServiceResponses } from '../result/steps/run-service-add-on.ts'
import { nameConsistency } from './name-consistency.ts'

function say(language: string, ...texts: string[]) {
  const utterances = texts.map((text, at) => {
    const words = text.split(' ').map((word, i) => {
      return { text: word, start: at * 10 + i, end: at * 10 + i + 1, confidence: 0.9 }
    })
    return { channel: 0, language, words }
  })
  return { utterances }
}

function answered(...responses: unknown[]): ServiceResponses {
  return { name: 'name_consistency', seconds: 0, responses }
}

function apply(transcript: ReturnType<typeof say>, given?: ServiceResponses) {
  const { transcript: changed, output, warnings } = nameConsistency.apply(transcript, {}, given)
  const texts = changed.utterances.map(({ words }) => words.map(({ text }) => text).join(' '))
  return { texts, changes: JSON.parse(output!.results as string), warnings }
}

const german = say('de', 'Herr Meyer kam', 'von Maiers,', 'mit Meyers', 'und Meyer', 'von Maier')
const down = { status_code: 503, exception: 'ServiceFailed', message: 'it is down' }

test('only similar names that will not be redacted are sent to the model', () => {
  const requests = nameConsistency.prepare!(german, {})
  assert.deepEqual(
    requests.map(({ task, groups }) => [
      task,
      (groups as { spelling: string }[][]).map((group) => group.map((one) => one.spelling)),
    ]),
    [
      [
        'names',
        [
          ['Meyer', 'Maier'],
          ['Maiers', 'Meyers'],
        ],
      ],
    ],
  )
  assert.deepEqual(nameConsistency.prepare!(german, { pii_redaction: true }), [])
  assert.deepEqual(nameConsistency.prepare!(say('de', 'Herr Meyer kam'), {}), [])
})

test("the model's changes are applied with surrounding punctuation", () => {
  const changes = [
    { from: 'Maier', to: 'Meyer' },
    { from: 'Maiers', to: 'Meyers' },
  ]
  const { texts, ...rest } = apply(german, answered({ changes }))
  assert.deepEqual(texts, ['Herr Meyer kam', 'von Meyers,', 'mit Meyers', 'und Meyer', 'von Meyer'])
  const counted = changes.map((change) => ({ ...change, count: 1 }))
  assert.deepEqual(rest, { changes: counted, warnings: undefined })
})

test('invalid changes of the model are ignored', () => {
  const changes = [
    { from: 'Maier', to: 'Meyers' },
    { from: 'Maier', to: 'Mayer' },
    { from: 'Herr', to: 'Meyer' },
  ]
  assert.deepEqual(apply(german, answered({ changes })).changes, [])
  for (const nonsense of [{}, { changes: 'all' }, { changes: [null, 7, {}] }]) {
    assert.equal(apply(german, answered(nonsense)).changes.length, 0)
  }
})

test('model changes extend phonetic ones, and a spelling is reported once', () => {
  const english = say('en', 'by Catherine', 'by Catherine', 'by Katherine', 'by Catharyne')
  const given = answered({ changes: [{ from: 'Catharyne', to: 'Catherine' }] })
  const { texts, changes } = apply(english, given)
  assert.ok(texts.every((text) => text === 'by Catherine'))
  assert.deepEqual(
    changes.toSorted((a: { from: string }, b: { from: string }) => (a.from < b.from ? -1 : 1)),
    [
      { from: 'Catharyne', to: 'Catherine', count: 1 },
      { from: 'Katherine', to: 'Catherine', count: 1 },
    ],
  )
})

test('without an answer phonetic matching is used with a warning, or the step fails', () => {
  const english = say('en', 'by Catherine', 'by Catherine', 'by Katherine')
  const failed = { name: 'name_consistency', seconds: 0, error: down }
  const { changes, warnings } = apply(english, failed)
  assert.deepEqual(changes, [{ from: 'Katherine', to: 'Catherine', count: 1 }])
  assert.deepEqual(warnings, ['name_consistency compared some names by sound alone: it is down'])
  assert.deepEqual(apply(english, answered({ error: down })).warnings, warnings)
  assert.throws(() => apply(german, answered({ error: down })), { message: 'it is down' })
  assert.throws(() => apply(german), { message: /supports only en; the recording is in de/ })
})
