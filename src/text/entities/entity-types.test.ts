import assert from 'node:assert/strict'
import test from 'node:test'
import { piiSingleTypes, piiTypes } from '../../api/schemas/jobs/pii-types.ts'
import { entityGroups, entityTypes, expandTypes } from './entity-types.ts'

test('the entity types match the single types of the API', () => {
  assert.deepEqual([...entityTypes].sort(), [...piiSingleTypes].sort())
})

test('exactly the groups of the API are expanded', () => {
  const groups = piiTypes.filter((type) => !piiSingleTypes.includes(type))
  assert.deepEqual(Object.keys(entityGroups).sort(), [...groups].sort())
})

/** Contract 4.9, counted by hand: `all NAME*` are 4 types, `all LOCATION*` are 8. */
const sizes = {
  APPI: 32,
  APPI_SENSITIVE: 12,
  CCI: 27,
  CORE_ENTITIES: 15,
  CPRA: 37,
  GDPR: 35,
  GDPR_SENSITIVE: 7,
  HEALTH_INFORMATION: 7,
  HIPAA_SAFE_HARBOR: 29,
  LIDI: 12,
  NUMERICAL_EXCL_PCI: 10,
  PCI: 5,
  QUEBEC_PRIVACY_ACT: 37,
}
for (const [group, size] of Object.entries(sizes)) {
  test(`${group} expands to ${size} types`, () => {
    assert.equal(expandTypes(group).size, size)
  })
}

test('types that the API excludes from a group are not expanded', () => {
  assert.ok(!expandTypes('HIPAA_SAFE_HARBOR').has('LOCATION_COUNTRY'))
  assert.ok(!expandTypes('CCI').has('LOCATION_COORDINATE'))
  assert.ok(!expandTypes('PCI').has('SSN'))
  assert.ok(!expandTypes('GDPR').has('DATE'))
})

test('groups and single types are combined without duplicates', () => {
  assert.deepEqual([...expandTypes(['PCI', 'CVV', 'AGE'])].sort(), [
    'AGE',
    'BANK_ACCOUNT',
    'CREDIT_CARD',
    'CREDIT_CARD_EXPIRATION',
    'CVV',
    'ROUTING_NUMBER',
  ])
})

test('an empty selection means every type', () => {
  assert.equal(expandTypes(undefined).size, piiSingleTypes.length)
  assert.equal(expandTypes([]).size, piiSingleTypes.length)
})

test('an unknown type is rejected', () => {
  assert.throws(() => expandTypes(['toString']), RangeError)
})
