import assert from 'node:assert/strict'
import test from 'node:test'
import { findEntities } from '../find-entities.ts'

function found(text: string): string[] {
  return findEntities({ text }).map(({ type, from, to }) => `${type} ${text.slice(from, to)}`)
}

const cases: Record<string, string[]> = {
  'My password is correct horse battery staple.': ['PASSWORD correct horse battery staple'],
  'The passphrase is blue giraffe and that is all.': ['PASSWORD blue giraffe'],
  'Re-enter your password, followed by the pound key.': [],
  'Agent login, please enter your number. What is your user name, sir?': [],
  'The password is correct now.': [],
  'The password is correct, thank you.': [],
  'The password is very weak again.': [],
}
for (const [text, expected] of Object.entries(cases)) {
  test(`finds ${expected.join(', ') || 'no passphrase'} in: ${text}`, () => {
    assert.deepEqual(found(text), expected)
  })
}
