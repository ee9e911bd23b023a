import assert from 'node:assert/strict'
import test from 'node:test'
import { SpeechLoad } from './speech-load.ts'

test('the weight of a session follows its speech, and silent ones weigh little', () => {
  let now = 0
  const voicing = new SpeechLoad({ channels: 2, now: () => now })
  assert.equal(voicing.weight, 1)
  now += 300_000
  assert.ok(voicing.weight < 0.11)
  for (let second = 0; second < 300; second++) {
    now += 1000
    voicing.recognized(1)
  }
  assert.ok(voicing.weight > 0.95 && voicing.weight < 1.05)
  voicing.recognized(600)
  assert.ok(voicing.weight <= 2)
})
