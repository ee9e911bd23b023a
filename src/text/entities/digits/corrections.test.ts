import assert from 'node:assert/strict'
import test from 'node:test'
import { findEntities } from '../find-entities.ts'

function found(text: string): string[] {
  return findEntities({ text }).map(({ type, from, to }) => `${type} ${text.slice(from, to)}`)
}

const cases: Record<string, string[]> = {
  "I'm forty one, no, sorry, forty two.": ['AGE forty one', 'AGE forty two'],
  'My PIN is four one, sorry, four two one nine.': [
    'PASSWORD four one',
    'PASSWORD four two one nine',
  ],
  'My account number is 63. Hang on. 63319802.': ['ACCOUNT_NUMBER 63', 'ACCOUNT_NUMBER 63319802'],
  'I was born on March 4th, I mean March 5th, 1982.': ['DOB March 4th', 'DOB March 5th, 1982'],
  'I live at forty two Elm, no, sorry, forty three Elm Street.': [
    'LOCATION_ADDRESS_STREET forty two Elm',
    'LOCATION_ADDRESS_STREET forty three Elm Street',
  ],
  'It was the fourth. No, sorry, the fifth of March.': [
    'DATE the fourth',
    'DATE the fifth of March',
  ],
  'My date of birth is the second of the, no, the third of June, 1981.': [
    ...['DOB the second of the', 'DOB the third of June, 1981'],
  ],
  'See you on March fourth, no, sorry, the fifth.': ['DATE March fourth', 'DATE the fifth'],
  'He came first, no. We met on the third of May. No, the second one.': ['DATE the third of May'],
  "It's dave at hot, sorry, dave at gmail dot com.": [
    ...['EMAIL_ADDRESS dave at hot', 'EMAIL_ADDRESS dave at gmail dot com'],
  ],
  'sarah dot wilks at out, no, sorry, sarah dot wilks at btinternet dot com': [
    'EMAIL_ADDRESS sarah dot wilks at out',
    'EMAIL_ADDRESS sarah dot wilks at btinternet dot com',
  ],
  'Look, sorry, kim at yahoo dot com is right.': ['EMAIL_ADDRESS kim at yahoo dot com'],
  'It started on the third of May? No, the fourth.': ['DATE the third of May', 'DATE the fourth'],
  'My sort code is 20-41-07.': ['ROUTING_NUMBER 20-41-07'],
  'We need two, sorry, three tickets.': [],
  'I have no number, two brothers, three sisters.': [],
}
for (const [text, expected] of Object.entries(cases)) {
  test(`finds ${expected.join(', ') || 'nothing'} in: ${text}`, () => {
    assert.deepEqual(found(text), expected)
  })
}
