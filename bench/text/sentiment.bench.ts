/**
 * Side and emotion of labeled sentences: those the lexicon was written with, and those written
 * after it (frozen). `confusion` counts label → answer for each side; speed is over the same
 * sentences.
 */
import { readFileSync } from 'node:fs'
import { classifySentiment } from '../../src/text/add-ons/sentiment/classify-sentiment.ts'
import { report } from '../support/report.ts'

classifySentiment('The lists are read on first use.')
for (const half of ['tuned', 'frozen']) {
  const text = readFileSync(new URL(`sentiment-${half}.tsv`, import.meta.url), 'utf8')
  const labeled = text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'))
  const confusion: Record<string, Record<string, number>> = {}
  let sides = 0
  let emotions = 0
  const startedAt = performance.now()
  for (const [side = '', emotion = '', sentence = ''] of labeled) {
    const classified = classifySentiment(sentence)
    if (classified.sentiment === side) sides++
    if (classified.emotion === emotion) emotions++
    confusion[side] ??= {}
    confusion[side][classified.sentiment] = (confusion[side][classified.sentiment] ?? 0) + 1
  }
  const seconds = (performance.now() - startedAt) / 1000
  report({
    bench: 'text/sentiment',
    half,
    sentences: labeled.length,
    accuracy: sides / labeled.length,
    emotionAccuracy: emotions / labeled.length,
    confusion,
    sentencesPerSecond: labeled.length / seconds,
  })
}
