import assert from 'node:assert/strict'
import test from 'node:test'
import { piiTypes } from '../../../api/schemas/jobs/pii-types.ts'
import { UsageError } from '../../arguments.ts'
import { readRedactTypes } from './redact-types.ts'

test('short names stand for types of the API, in singular and plural', () => {
  const names = ['NAME', 'NAME_GIVEN', 'NAME_FAMILY', 'NAME_MEDICAL_PROFESSIONAL']
  assert.deepEqual(readRedactTypes('names'), names)
  assert.deepEqual(readRedactTypes('name'), names)
  assert.deepEqual(readRedactTypes('addresses'), readRedactTypes('address'))
  assert.deepEqual(readRedactTypes('pci, emails'), ['PCI', 'EMAIL_ADDRESS'])
})

test('names of the API are taken in any letter case and with dashes', () => {
  const types = ['CREDIT_CARD', 'GDPR', 'SSN']
  assert.deepEqual(readRedactTypes('credit-card,gdpr,Ssn'), types)
})

test('every name of the API in capitals is that one alone', () => {
  assert.deepEqual(readRedactTypes('NAME'), ['NAME'])
  for (const type of piiTypes) assert.deepEqual(readRedactTypes(type), [type])
})

test('a type that two names have is asked for once', () => {
  assert.deepEqual(readRedactTypes('email,EMAIL_ADDRESS'), ['EMAIL_ADDRESS'])
})

test('all is every type, whatever stands beside it', () => {
  assert.equal(readRedactTypes('all'), undefined)
  assert.equal(readRedactTypes('names,all'), undefined)
})

test('a name that is not known is refused with those that are', () => {
  for (const text of ['pci,foo', 'all,foo', 'foo']) {
    assert.throws(() => readRedactTypes(text), {
      name: UsageError.name,
      message: /^--redact does not know 'foo'; there are: all, name, email, .*quebec, appi, .*ssn/,
    })
  }
  for (const text of ['', 'pci,', 'constructor'])
    assert.throws(() => readRedactTypes(text), UsageError)
})
