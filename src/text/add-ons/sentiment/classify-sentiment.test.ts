import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { classifySentiment } from './classify-sentiment.ts'

/** Sentences that must have the sentiment of their heading. */
const cases: Record<string, string[]> = {
  positive: [
    'It is good.',
    'It is promising.',
    'That is not bad.',
    'I did not have any problem with it.',
    'They solved my problem.',
    'It was not only cheap but it was also good.',
    'Thanks, I’m happy.',
    'It is a user-friendly program.',
    'No doubt it is excellent.',
    'I have never been happier.',
    'I’ve never felt so happy.',
    'It couldn’t be better.',
    "I can't thank you enough.",
    "I can't recommend them enough.",
    'It is never bad.',
  ],
  negative: [
    'The battery barely lasts a day.',
    'It is not good.',
    "I don't think that this was a good idea.",
    'Nobody who works at that office was helpful.',
    'No, it is bad.',
    'They have not solved my problem.',
    'Thanks, but it is broken.',
    'Why is your service so terrible?',
    'What if it is dangerous?',
    'It was not good or helpful.',
    'I have never been more insulted in my life.',
    'I’ve never seen such a terrible movie.',
    'It could not be worse.',
    "It couldn't be worse.",
    'I was never happy there.',
    "I can't be happy here.",
    "It isn't really all that very good.",
    "I don't like it.",
    'He did not like the food, and she never liked it.',
  ],
  neutral: [
    'Do you have a problem?',
    '“Do you have a problem?”',
    'If you have any trouble, send a letter.',
    'It would be good if you called.',
    'It is slightly promising.',
    'Hold the line.',
    "It doesn't look like rain.",
    'No problem, it is the second door on the left.',
    'The war on drugs.',
    'No.',
  ],
  mixed: [
    'It is good but it is slow.',
    'It is good, however it is slow.',
    'The start was awful; the end was great.',
    'It is beautiful, yet it is expensive.',
    'She is wonderful and he is disgusting.',
  ],
  unknown: ['', '...', '— ?!', '♪'],
}

for (const [sentiment, sentences] of Object.entries(cases)) {
  for (const sentence of sentences) {
    test(`classifySentiment rates “${sentence}” as ${sentiment}`, () => {
      assert.equal(classifySentiment(sentence).sentiment, sentiment)
    })
  }
}

const felt: Record<string, string> = {
  'I am furious.': 'anger',
  'I am not happy.': 'disappointment',
  'It works, and I am relieved.': 'relief',
  'That is a good, funny story.': 'amusement',
  'I loved it but I am sad.': 'sadness',
  'I was sad but I love it.': 'adoration',
  'Oh, I see, it is there.': 'realization',
  'I wonder where it is.': 'interest',
  'The table is green.': 'neutral',
  'The wood blocks are engraved in relief.': 'neutral',
  'We applied for tax relief.': 'neutral',
  'He sighed in relief.': 'relief',
  'It broke my heart.': 'sadness',
  'He is a liar.': 'contempt',
  'It arrived sooner than expected.': 'positive_surprise',
  'I can breathe again.': 'relief',
}

for (const [sentence, emotion] of Object.entries(felt)) {
  test(`classifySentiment finds ${emotion} in “${sentence}”`, () => {
    assert.equal(classifySentiment(sentence).emotion, emotion)
  })
}

test('classifySentiment reaches its recorded accuracy on the frozen sentences', () => {
  const url = new URL('../../../../bench/text/sentiment-frozen.tsv', import.meta.url)
  const lines = readFileSync(url, 'utf8').trim().split('\n').slice(1)
  const labeled = lines.map((line) => line.split('\t'))
  const counted = labeled.map(([, , sentence = '']) => classifySentiment(sentence))
  const sides = labeled.filter(([side], i) => counted[i]!.sentiment === side).length
  const emotions = labeled.filter(([, emotion], i) => counted[i]!.emotion === emotion).length
  assert.ok(sides / labeled.length >= 0.79, `${sides} of ${labeled.length} sides`)
  assert.ok(emotions / labeled.length >= 0.7, `${emotions} of ${labeled.length} emotions`)
})

test('classifySentiment handles extremely long input in time', () => {
  const startedAt = performance.now()
  classifySentiment('not good but '.repeat(20_000))
  classifySentiment(`${'?'.repeat(200_000)}a`)
  classifySentiment(`a${"'".repeat(200_000)}b`)
  assert.ok(performance.now() - startedAt < 2000)
})
