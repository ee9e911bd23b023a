import assert from 'node:assert/strict'
import test from 'node:test'
import { piiTypes } from '../../../api/schemas/jobs/pii-types.ts'
import { UsageError } from '../../terminal/arguments.ts'
import { readRedactTypes } from './redact-types.ts'

test('short names expand to API types, in singular and plural', () => {
  const names = ['NAME', 'NAME_GIVEN', 'NAME_FAMILY', 'NAME_MEDICAL_PROFESSIONAL']
  assert.deepEqual(readRedactTypes('names'), names)
  assert.deepEqual(readRedactTypes('name'), names)
  assert.deepEqual(readRedactTypes('addresses'), readRedactTypes('address'))
  assert.deepEqual(readRedactTypes('pci, emails'), ['PCI', 'EMAIL_ADDRESS'])
})

test('API types are accepted in any case and with dashes', () => {
  const types = ['CREDIT_CARD', 'GDPR', 'SSN']
  assert.deepEqual(readRedactTypes('credit-card,gdpr,Ssn'), types)
})

test('an API type in capitals selects only that type', () => {
  assert.deepEqual(readRedactTypes('NAME'), ['NAME'])
  for (const type of piiTypes) assert.deepEqual(readRedactTypes(type), [type])
})

test('a type selected by two names is requested once', () => {
  assert.deepEqual(readRedactTypes('email,EMAIL_ADDRESS'), ['EMAIL_ADDRESS'])
})

test("'all' requests every type and overrides other names", () => {
  assert.equal(readRedactTypes('all'), undefined)
  assert.equal(readRedactTypes('names,all'), undefined)
})

test('an unknown type is rejected with the known ones', () => {
  for (const text of ['pci,foo', 'all,foo', 'foo']) {
    assert.throws(() => readRedactTypes(text), {
      name: UsageError.name,
      message: /^unknown type 'foo' in --redact; use all, name, email, .*quebec, appi, .*ssn/,
    })
  }
  for (const text of ['', 'pci,', 'constructor'])
    assert.throws(() => readRedactTypes(text), UsageError)
})
