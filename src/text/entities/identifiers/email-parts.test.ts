import assert from 'node:assert/strict'
import test from 'node:test'
import { findEntities } from '../find-entities.ts'

function found(text: string): string[] {
  return findEntities({ text }).map(({ type, from, to }) => `${type} ${text.slice(from, to)}`)
}

const cases: Record<string, string[]> = {
  "And your e-mail? It's john dot smith.": ['EMAIL_ADDRESS john dot smith'],
  'Your email address? The first part is jsmith eighty four.': ['EMAIL_ADDRESS jsmith eighty four'],
  'My email starts with k underscore lee.': ['EMAIL_ADDRESS k underscore lee'],
  'Your email? J.Smith add gmail.com.': ['EMAIL_ADDRESS J.Smith add gmail.com'],
  "It's dave dot smith, eighty, at gmail dot com.": [
    'EMAIL_ADDRESS dave dot smith, eighty, at gmail dot com',
  ],
  "It's j, dot smith, at gmail dot com.": ['EMAIL_ADDRESS j, dot smith, at gmail dot com'],
  "It's m underscore, jones at gmail dot com.": [
    'EMAIL_ADDRESS m underscore, jones at gmail dot com',
  ],
  'Now add acme.com, or at acme dot org.': ['URL acme.com', 'URL acme dot org'],
  'Find me on Twitter at tech underscore becky.': [
    'ORGANIZATION Twitter',
    'USERNAME tech underscore becky',
  ],
  'Username jsmith, password Winter2024, all one word.': [
    'USERNAME jsmith',
    'PASSWORD Winter2024, all one word',
  ],
  'The username field, the password 2FA step and Password 101.': [],
  'Look at user underscore id.': [],
  'Did you get my e-mail? Nothing.': [],
  'And your email? Okay, and your name?': [],
  'Send me a parcel. zyxt dot b.': [],
}
for (const [text, expected] of Object.entries(cases)) {
  test(`finds ${expected.join(', ') || 'no address'} in: ${text}`, () => {
    assert.deepEqual(found(text), expected)
  })
}
