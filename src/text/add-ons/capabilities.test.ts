import assert from 'node:assert/strict'
import test from 'node:test'
import { entityTypes } from '../entities/entity-types.ts'
import { serviceOnlyAddOns } from '../result/steps/not-configured.ts'
import { transforms } from '../transforms/transforms.ts'
import { localAddOns } from './add-ons.ts'
import { textCapabilities } from './capabilities.ts'

const { addOns: reported, entityTypes: types, entityGroups } = textCapabilities()

function reportOf(name: string) {
  return reported.find((one) => one.name === name)!
}

test('every add-on of the registries is reported once', () => {
  const [changing, made] = [transforms, localAddOns].map((list) => list.map(({ name }) => name))
  assert.deepEqual(
    reported.map(({ name }) => name),
    [...changing!, 'diarization', ...made!, ...serviceOnlyAddOns],
  )
  assert.equal(new Set(reported.map(({ name }) => name)).size, reported.length)
})

test('an add-on reports its languages and whether it is configured and repeatable', () => {
  for (const { name, languages } of [...transforms, ...localAddOns]) {
    assert.deepEqual([name, reportOf(name).languages], [name, languages])
  }
  const flags = (name: string) => {
    const { kind, isConfigured, isRepeatable } = reportOf(name)
    return [kind, isConfigured, isRepeatable]
  }
  assert.deepEqual(flags('custom_spelling'), ['transform', true, false])
  assert.deepEqual(flags('subtitles'), ['add-on', true, true])
  assert.deepEqual(flags('diarization'), ['add-on', true, false])
  assert.deepEqual(flags('translation'), ['add-on', false, true])
  assert.deepEqual(reportOf('translation').languages, [])
})

test('all entity types are reported, and groups consist of them', () => {
  const known = new Set<string>(entityTypes)
  assert.deepEqual(new Set(types.map(({ type }) => type)), known)
  assert.ok(Object.keys(entityGroups).includes('GDPR'))
  assert.ok(Object.values(entityGroups).every((group) => group.every((type) => known.has(type))))
})
