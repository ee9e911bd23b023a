import assert from 'node:assert/strict'
import test from 'node:test'
import { mergeServiceAddOn } from '../result/steps/run-service-add-on.ts'
import { audioToLlm } from './llm-add-ons.ts'

test('prompts take the total of their times, also if they were answered at once or before', () => {
  const words = [{ text: 'Hi', start: 0, end: 1, confidence: 0.9 }]
  const transcript = { utterances: [{ channel: 0, language: 'en', words }] }
  const params = { audio_to_llm_config: { prompts: ['Who?', 'Why?', 'When?'] } }
  const error = { status_code: 503, exception: 'ServiceFailed', message: 'no answer' }
  const responses = [{ text: 'Lena.', seconds: 1.5 }, { error, seconds: 2 }, undefined]
  const merge = (given: readonly unknown[]) => {
    const serviceResponses = { name: 'audio_to_llm', seconds: 0.25, responses: [...given] }
    const options = { params, format: 'string', failedSteps: {}, now: () => 0 } as const
    return mergeServiceAddOn(audioToLlm, transcript, serviceResponses, options)
  }
  const merged = merge(responses)
  const each = merged.results as { success: boolean; exec_time: number }[]
  assert.deepEqual(
    each.map(({ success, exec_time: seconds }) => [success, seconds]),
    [
      [true, 1.5],
      [false, 2],
      [false, 0],
    ],
  )
  assert.equal(merged.exec_time, 3.5)
  const failed = merge([{ error, seconds: 1 }])
  assert.deepEqual([failed.success, failed.exec_time], [false, 1])
})
