import assert from 'node:assert/strict'
import test from 'node:test'
import { labeledSentences } from '../../../test/support/text/labeled-entities/sentences.ts'
import { entityCapabilities } from './capabilities.ts'
import { entityTypes } from './entity-types.ts'

const supportOf = new Map(entityCapabilities().map(({ type, support }) => [type, support]))

test('every entity type states how it is detected', () => {
  assert.deepEqual([...supportOf.keys()], [...entityTypes])
})

test('every type in the labeled sentences is supported', () => {
  const labeled = (['frozen', 'tuning'] as const).flatMap(labeledSentences)
  const types = new Set(labeled.flatMap(({ entities }) => entities.map(({ type }) => type)))
  assert.deepEqual(
    [...types].filter((type) => supportOf.get(type) === 'none'),
    [],
  )
})

test('support levels: checksums strong, announced numbers cue, names list, trends none', () => {
  const reported = (['CREDIT_CARD', 'CVV', 'NAME', 'TREND'] as const).map((type) =>
    supportOf.get(type),
  )
  assert.deepEqual(reported, ['strong', 'cue', 'list', 'none'])
})

test('an unsupported type has no language', () => {
  const languages = entityCapabilities().map(({ support, languages }) => [
    support,
    languages.join(),
  ])
  assert.ok(languages.every(([support, named]) => named === (support === 'none' ? '' : 'en')))
})
