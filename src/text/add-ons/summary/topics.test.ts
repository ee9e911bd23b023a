import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Transcript, Word } from '../../../transcript/transcript.ts'
import { type Sentence, splitSentences } from '../../words/sentences/sentences.ts'
import { splitTopics } from './topics.ts'

const ROOF = `The roof of the school leaks in the east wing. Rain came through the ceiling of two classrooms in March.
The roofer says that the tiles are forty years old. He would replace all the tiles before the winter. The gutters are
full of leaves, and the water runs down the wall. The insulation under the tiles is wet in places. A scaffold has to
stand in the yard for six weeks. Children can not play near the scaffold. The roofer wants half of the price before he
starts. The insurance pays for the ceiling but not for the tiles. We asked two other roofers for a price. The second
roofer would only repair the gutters and the worst tiles.`
const LUNCH = `Many parents complain about lunch in the canteen. The kitchen serves noodles three times a week. The cook
would like to serve fresh vegetables from the farm. Vegetables from the farm cost more than frozen vegetables. Some
children bring their own lunch because they do not like the noodles. The canteen throws away a quarter of the food. A
smaller menu means that the kitchen wastes less food. The cook asks for a second oven. With two ovens the kitchen could
bake bread every morning. Parents would pay fifty cents more for a better lunch. The canteen could open ten minutes
earlier. Then the children eat lunch without a queue.`
const TRIP = `The class trip goes to the sea this year. The bus to the coast leaves on Monday at seven. The hostel on
the beach has room for sixty pupils. Last year the hostel was too loud at night. Pupils swim only when a lifeguard is
at the beach. The teachers plan a walk over the mud flats with a guide. The guide knows the tides and the seals. The
bus company wants a deposit before the trip. Pupils who get sick on the bus sit in front. Every pupil needs boots and a
rain coat for the beach. The trip ends on Friday with a boat to the seal island. The boat goes only if the sea is calm.`

/** Sentences of a speaker, six seconds each, without pauses. */
function sentencesOf(...texts: string[]): Sentence[] {
  const words: Word[] = []
  for (const sentence of texts.flatMap((text) => text.split(/(?<=\.)\s+/))) {
    const from = words.at(-1)?.end ?? 0
    const spoken = sentence.split(/\s+/)
    for (const [i, text] of spoken.entries()) {
      const at = (n: number) => from + (6 * n) / spoken.length
      words.push({ text, start: at(i), end: at(i + 1), confidence: 0.9 })
    }
  }
  const transcript: Transcript = { utterances: [{ channel: 0, language: 'en', words }] }
  return splitSentences(transcript)
}

test('splitTopics splits where the vocabulary changes', () => {
  for (const texts of [
    [ROOF, LUNCH, TRIP],
    [TRIP, ROOF, LUNCH],
    [LUNCH, TRIP],
  ]) {
    const topics = splitTopics(sentencesOf(...texts))
    const begins = topics.map(([first]) => first!.text)
    assert.deepEqual(
      begins,
      texts.map((text) => text.slice(0, text.indexOf('.') + 1).replace(/\s+/g, ' ')),
    )
  }
})

test('splitTopics does not split one topic or a short text', () => {
  assert.equal(splitTopics(sentencesOf(ROOF)).length, 1)
  assert.equal(splitTopics(sentencesOf('Hello. This is a test. The end.')).length, 1)
  assert.deepEqual(splitTopics([]), [])
})

test('topics cover all sentences and last at least 45 seconds', () => {
  const sentences = sentencesOf(ROOF, LUNCH, TRIP, LUNCH, ROOF)
  const topics = splitTopics(sentences)
  assert.deepEqual(topics.flat(), sentences)
  for (const topic of topics) assert.ok(topic.at(-1)!.end - topic[0]!.start >= 45)
})

test('three hours are split into at most 24 topics in limited time', () => {
  const day = Array.from({ length: 50 }, () => [ROOF, LUNCH, TRIP]).flat()
  const startedAt = performance.now()
  assert.ok(splitTopics(sentencesOf(...day)).length <= 24)
  assert.ok(performance.now() - startedAt < 10_000)
})
