import assert from 'node:assert/strict'
import test from 'node:test'
import type {
  ServiceCallOptions,
  ServiceRequest,
  Services,
} from '../../text/service-add-ons/service-add-on.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'
import { createSessionServices, type SessionCallOptions } from './session-services.ts'

const utterance: UtteranceView = {
  start: 1,
  end: 2,
  confidence: 1,
  channel: 0,
  language: 'en',
  text: ' Hello.',
  words: [{ word: ' Hello.', start: 1, end: 2, confidence: 1 }],
}
const params = { translation_config: { target_languages: ['fr'] } }
const { signal } = new AbortController()
const memoize: SessionCallOptions['memoize'] = (_part, make) => make()
const options: SessionCallOptions = { signal, memoize }

/** Services that respond only when they are aborted. */
const hanging: Services = {
  addOns: { summarization: 'all' },
  call(_request, options) {
    return new Promise((_resolve, reject) => {
      options.signal.addEventListener('abort', () => reject(options.signal.reason))
    })
  },
}

test('a translation that takes too long fails with AddonTimeout', async () => {
  const limits = { translation: 0.01, partial: 0.01, atEnd: 0.01 }
  const services = createSessionServices(hanging, { id: 's', account: 'a', params }, limits)
  const { success, error } = await services.translate(utterance, options)
  assert.deepEqual([success, error!.exception], [false, 'AddonTimeout'])
})

test('a late translation into one language leaves the other languages as they are', async () => {
  const limits = { translation: 0.01, partial: 0.01, atEnd: 0.01 }
  const targets = { translation_config: { target_languages: ['fr', 'en', 'de'] } }
  const slowFrench: Services = {
    addOns: {},
    call: async (request, options) => {
      if (request.target === 'fr') return hanging.call(request, options)
      return { texts: ['Hallo.'] }
    },
  }
  const session = { id: 's', account: 'a', params: targets }
  const services = createSessionServices(slowFrench, session, limits)
  const { success, results } = await services.translate(utterance, options)
  type Target = { error: { exception: string } | null; full_transcript: string }
  const [french, english, german] = results as Target[]
  assert.equal(success, true)
  assert.equal(french!.error!.exception, 'AddonTimeout')
  assert.deepEqual([english!.full_transcript, german!.full_transcript], ['Hello.', 'Hallo.'])
})

test('suspending a session aborts its service requests', async () => {
  const leaving = new AbortController()
  const services = createSessionServices(hanging, { id: 's', account: 'a', params })
  const summary = services.summarize!([utterance], { ...options, signal: leaving.signal })
  leaving.abort(new Error('left'))
  await assert.rejects(summary, /left/)
})

test('services get trimmed text and the account, and return the usage', async () => {
  const calls: [ServiceRequest, ServiceCallOptions][] = []
  const usage = { requests: 1, prompt_tokens: 5, completion_tokens: 2 }
  const answering: Services = {
    addOns: {},
    async call(...given) {
      calls.push(given)
      return { texts: ['Bonjour.'], usage }
    },
  }
  const services = createSessionServices(answering, { id: 's', account: 'a', params })
  const envelope = await services.translate(utterance, options)
  const [[request, { account }]] = calls as [[ServiceRequest, ServiceCallOptions]]
  assert.deepEqual([request.texts, request.target, account], [['Hello.'], 'fr', 'a'])
  assert.deepEqual(envelope.usage, usage)
})

test('prompts get the transcript, and quotes the times of their utterance', async () => {
  const prompted = { audio_to_llm_config: { prompts: ['Who?', 'Why?'] } }
  const services = createSessionServices(
    {
      addOns: { audio_to_llm: 'all' },
      call: async ({ prompt, text }) => ({ text: `${prompt} “Hello” of ${text}` }),
    },
    { id: 's', account: 'a', params: prompted },
  )
  const later = { ...utterance, start: 5, end: 7, text: ' Oh, hello you.' }
  const { results } = await services.answerPrompts!(
    [{ ...utterance, text: ' Hm.' }, later],
    options,
  )
  type Response = { results: { response: string }; sources: object[] }
  const [who, why] = results as Response[]
  assert.equal(who!.results.response, 'Who? “Hello” of Hm.\nOh, hello you.')
  assert.deepEqual(why!.sources, [{ text: 'Hello', start: 5, end: 7, channel: 0 }])
})
