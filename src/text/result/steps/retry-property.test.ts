import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { rounds } from '../../../../test/support/random/rounds.ts'
import type { Transcript, Utterance } from '../../../transcript/transcript.ts'
import { localAddOns } from '../../add-ons/add-ons.ts'
import { buildResult } from '../build-result.ts'
import type { ResultFormat } from './envelope.ts'
import { serviceOnlyAddOns } from './not-configured.ts'
import { recomputeAddOn } from './retry-add-on.ts'

const names = [...localAddOns.map(({ name }) => name), ...serviceOnlyAddOns]
const broken = { status_code: 500, exception: 'AddonFailed', message: 'it broke down' }
const watch = { now: () => 0, onStep: () => {} }

const texts = ['Lena.', 'word', 'and', 'London,', 'I love it!', '4242', 'you idiot', '今日。']
const share = fc.double({ min: 0, max: 1, noNaN: true })
/** At one pace, so that all pauses are equal except for binary rounding. */
const utterance = fc
  .record({
    channel: fc.nat(1),
    language: fc.constantFrom('en', 'en', 'ja'),
    start: fc.double({ min: 0, max: 20, noNaN: true }),
    pace: fc.constantFrom(1 / 30, 0.1, 1 / 3),
    confidence: share,
    speaker: fc.option(fc.record({ speaker: fc.nat(2), speakerConfidence: share }), {
      nil: undefined,
    }),
    words: fc.array(fc.constantFrom('word', 'word', ...texts), { maxLength: 90, size: 'max' }),
  })
  .map(({ start, pace, confidence, speaker, words, ...whose }): Utterance => {
    const timed = words.map((text, i) => {
      const times = { start: start + i * pace, end: start + (i + 0.8) * pace }
      return { text, ...times, confidence: confidence / (1 + (i % 7)) }
    })
    return { ...whose, ...speaker, words: timed }
  })

const params = fc.record({
  pii_redaction: fc.boolean(),
  subtitles_config: fc.constantFrom(
    undefined,
    { formats: ['srt', 'vtt'], style: 'compliance' },
    { formats: ['srt'], minimum_duration: 0.999, maximum_duration: 1 },
  ),
  summarization_config: fc.constantFrom(undefined, { type: 'bullet_points' }),
})

function textOf(
  transcript: Transcript,
  options: { params: Record<string, unknown>; format: ResultFormat },
  failing: readonly string[] = [],
): string {
  const about = { audioDuration: 20, distinctChannels: 1, transcriptionTime: 1 }
  const given = Object.fromEntries(failing.map((name) => [name, broken]))
  return JSON.stringify(
    buildResult(transcript, { ...about, ...options }, { ...watch, failedSteps: given }).result,
  )
}

test('a retried add-on equals that of a job that never failed', () => {
  const arbitraryUtterances = fc.array(utterance, { maxLength: 4 })
  const format = fc.constantFrom<ResultFormat>('string', 'native')
  fc.assert(
    fc.property(arbitraryUtterances, params, format, (utterances, config, format) => {
      const english = utterances.filter(({ language }) => language === 'en')
      const transcript = { utterances: config.pii_redaction ? english : utterances }
      const requested = Object.fromEntries(names.map((name) => [name, true]))
      const options = { params: { ...requested, ...config }, format }
      const whole = textOf(transcript, options)
      for (const name of names) {
        // Markers do not show which of them are one entity that was split
        // (redaction/markers.ts).
        if (config.pii_redaction && name === 'named_entity_recognition') continue
        const result = textOf(transcript, options, [name])
        const texts = { result, params: JSON.stringify(options.params) }
        const retried = recomputeAddOn({ name, ...texts, format }, { ...watch, failedSteps: {} })
        // A failure of subtitles without any words does not show; an add-on without an engine fails
        // every time.
        if (retried.outcome === 'succeeded') assert.equal(result, whole, name)
        else assert.equal(retried.outcome === 'made' && retried.result, whole, name)
      }
    }),
    { numRuns: rounds(10) },
  )
})
