import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cueWeight, isGreeting } from './cues.ts'

const weights: [string, number][] = [
  ['We decided to move.', 1.35],
  ['It starts on Thursday.', 1.35],
  ['It takes 30 minutes.', 1.35],
  ['The deadline is on Thursday.', 1.35 * 1.35],
  ["Okay, let's start with the roof.", 0.6],
  ['The second topic is the budget.', 0.6],
  ['The sky over the city is blue.', 1],
  ['Do you know the deadline?', 0.3],
  ['Good morning, we decided to meet.', 0.3],
]

for (const [sentence, weight] of weights) {
  test(`cueWeight of “${sentence}” is ${weight}`, () => {
    assert.equal(cueWeight(sentence), weight)
  })
}

test('isGreeting finds farewells at the end of a sentence, but not similar words', () => {
  assert.ok(isGreeting('All right, have a great weekend.'))
  assert.ok(isGreeting('So, thank you for calling Acme.'))
  assert.ok(!isGreeting('High prices are a problem.'))
  assert.ok(!isGreeting('They waved goodbyes to nobody.'))
})

test('cueWeight handles extremely long input in time', () => {
  const startedAt = performance.now()
  cueWeight(`${'?'.repeat(200_000)}a`)
  cueWeight('so '.repeat(100_000))
  cueWeight('deci'.repeat(100_000))
  assert.ok(performance.now() - startedAt < 2000)
})
