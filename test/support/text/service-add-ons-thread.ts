/**
 * A thread with two add-ons that need a service, and that misbehave as the switch `fault` says:
 * `prepare hangs`, `merge crashes`.
 */

import { AddOnFailedError } from '../../../src/text/result/steps/envelope.ts'
import { serveResultTasks } from '../../../src/text/result/threads/serve-result-tasks.ts'
import type { ServiceAddOn } from '../../../src/text/service-add-ons/service-add-on.ts'
import { blockThread } from '../workers/block-thread.ts'

/** Requests a translation of each utterance. */
const translation: ServiceAddOn = {
  name: 'translation',
  languages: ['en'],
  prepare({ utterances, ...others }, { fault }) {
    if (fault === 'prepare hangs') blockThread()
    return utterances.map(({ words }) => {
      const text = words.map(({ text }) => text).join(' ')
      return { service: 'translation', model: 'tiny', text, others: Object.keys(others) }
    })
  },
  merge({ utterances }, { fault }, responses, { format }) {
    if (fault === 'merge crashes') process.exit(1)
    if (!responses.every((response) => typeof response === 'string')) {
      const message = 'the answer is no text'
      throw new AddOnFailedError({ status_code: 502, exception: 'ServiceFailed', message })
    }
    return {
      results: { responses, utterances: utterances.length, format },
      isEmpty: false,
    }
  },
}

/** Makes one request for the whole transcript. */
const audioToLlm: ServiceAddOn = {
  ...translation,
  name: 'audio_to_llm',
  prepare: () => [{ service: 'language model', model: 'tiny', prompt: 'Who called?' }],
}

serveResultTasks({ serviceAddOns: [translation, audioToLlm] })
