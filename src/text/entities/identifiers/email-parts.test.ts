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
  'Did you get my e-mail? Nothing.': [],
  'And your email? Okay, and your name?': [],
  'Send me a parcel. zyxt dot b.': [],
}
for (const [text, expected] of Object.entries(cases)) {
  test(`finds ${expected.join(', ') || 'no email part'} in: ${text}`, () => {
    assert.deepEqual(found(text), expected)
  })
}
