import assert from 'node:assert/strict'
import test from 'node:test'
import { findEntities } from '../find-entities.ts'

function found(text: string): string[] {
  return findEntities({ text }, new Set(['PASSWORD', 'USERNAME'])).map(({ type, from, to }) => {
    return `${type} ${text.slice(from, to)}`
  })
}

const cases: Record<string, string[]> = {
  "What's your memorable place? Whitby.": ['PASSWORD Whitby'],
  "What's your memorable place, please? Uh, it's Robin Hood's Bay.": ["PASSWORD Robin Hood's Bay"],
  'My memorable place is Whitby.': ['PASSWORD Whitby'],
  'The answer to your secret question? Blue Ford Fiesta.': ['PASSWORD Blue Ford Fiesta'],
  'What was the name of your first pet? Muffin.': ['PASSWORD Muffin'],
  "Is there a password on the account? Yes. It's Cobblestone.": ['PASSWORD Cobblestone'],
  "What password do you use? It's Winter, capital W, one two three.": [
    'PASSWORD Winter, capital W, one two three',
  ],
  'What was the password again? Sunrise, with a capital S, then two zero two four, hash.': [
    'PASSWORD Sunrise, with a capital S, then two zero two four, hash',
  ],
  'My password is tiger, capital T, then nine nine, exclamation mark.': [
    'PASSWORD tiger, capital T, then nine nine, exclamation mark',
  ],
  'My password is sunset. All lower case. Seven. Eight. I use it twice.': [
    'PASSWORD sunset. All lower case. Seven. Eight',
  ],
  "The password I'm giving you is Falcon, dash, eight eight two.": [
    'PASSWORD Falcon, dash, eight eight two',
  ],
  'The password is going to be capital R, lower case t, nine, four, k.': [
    'PASSWORD capital R, lower case t, nine, four, k',
  ],
  'What is your password? Horse, battery, nine, staple.': ['PASSWORD Horse, battery, nine, staple'],
  "What's your password? Um, purple, then monkey, then dishwasher.": [
    'PASSWORD purple, then monkey, then dishwasher',
  ],
  'Your memorable place? Biscuit, but that was long ago.': ['PASSWORD Biscuit'],
  'My password is terrible. My password is easy to guess. Your password is new, I think.': [],
  'My password is good morning. My password is Terrible22.': [
    'PASSWORD good morning',
    'PASSWORD Terrible22',
  ],
  "What's your username? It's jbrown, seventy two.": ['USERNAME jbrown, seventy two'],
  "What's your username? Sorry, I forgot it. Your username? Hello. And it?": [],
  'My password is tiger. Two people know it, and one small dog.': ['PASSWORD tiger'],
  'Do you have a password? Yes, I do. Do you have a password? Okay, so we start.': [],
  'What is the answer to your question? Can you use my password? Of course, then we wait.': [],
}
for (const [text, expected] of Object.entries(cases)) {
  test(`finds ${expected.join(', ') || 'no secret'} in: ${text}`, () => {
    assert.deepEqual(found(text), expected)
  })
}
