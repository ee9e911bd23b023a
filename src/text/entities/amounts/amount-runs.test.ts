import assert from 'node:assert/strict'
import test from 'node:test'
import { findEntities } from '../find-entities.ts'

function found(text: string): string[] {
  return findEntities({ text }).map(({ type, from, to }) => `${type} ${text.slice(from, to)}`)
}

const cases: Record<string, string[]> = {
  'My card is 4,111,111,111,111,111.': ['CREDIT_CARD 4,111,111,111,111,111'],
  'My social security number is 123,456,789.': ['SSN 123,456,789'],
  'Call me at 4,155,550,199.': ['PHONE_NUMBER 4,155,550,199'],
  'My account number is 12,345,678.': ['ACCOUNT_NUMBER 12,345,678'],
  'My zip code is 90,210.': ['LOCATION_ZIP 90,210'],
  'It was 1,115,926,535.': ['NUMERICAL_PII 1,115,926,535'],
  'It was 7,415,000,000.': [],
  'The claim is 12,500.': [],
  'The number of users is 1,234,567.': [],
  'The number is 4,155,550,199 people.': [],
  'The number is 4,155,550,199.50.': [],
}
for (const [text, expected] of Object.entries(cases)) {
  test(`finds ${expected.join(', ') || 'no amount'} in: ${text}`, () => {
    assert.deepEqual(found(text), expected)
  })
}
