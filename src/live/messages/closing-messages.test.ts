import assert from 'node:assert/strict'
import test from 'node:test'
import { createMemorySessionStore } from '../../../test/support/live/stores/memory-session-store.ts'
import { createLog } from '../../observability/log.ts'
import { type Envelope, failedEnvelope } from '../../text/result/steps/envelope.ts'
import { Journal } from '../journal/journal.ts'
import { recoverSession } from '../journal/session-recovery.ts'
import { sendClosingMessages } from './closing-messages.ts'
import { MessageOutbox } from './message-outbox.ts'
import { MessagePublisher } from './message-publisher.ts'
import type { AddOnParams } from './realtime-add-ons.ts'
import type { SessionServices } from './session-services.ts'

const routing = { isForSocket: () => true, isForCallback: () => false }
const format = { encoding: 's16', sampleRate: 16_000, channels: 1 } as const
const summarizing: AddOnParams = {
  realtime_processing: {
    translation: false,
    named_entity_recognition: false,
    sentiment_analysis: false,
  },
  post_processing: { summarization: true },
}

/**
 * Ends a session with a summary in a process that finds this log; returns the log and the result.
 */
async function close(
  summary: Envelope,
  lines: string[] = [],
  { params = summarizing, services }: { params?: AddOnParams; services?: SessionServices } = {},
) {
  const log = createLog('silent')
  const { signal } = new AbortController()
  const store = createMemorySessionStore({ audio: Buffer.alloc(0), lines })
  const readLog = () => store.readLines()
  const reading = { routing, addOnGroups: [], keepSeconds: 0, maxMissed: 9 }
  const { sent, messages: earlier } = await recoverSession(store, reading)
  const journal = new Journal({ store, log, signal })
  const warn = assert.fail
  const sending = { sessionId: 'one', routing, journal, maxMissed: 9, warn, earlier }
  const outbox = new MessageOutbox(sending)
  const publisher = new MessagePublisher({
    outbox,
    journal,
    hooks: [],
    sent,
    seconds: () => 1,
    log,
    signal,
  })
  const { outcome } = await sendClosingMessages({
    sessionId: 'one',
    params,
    format,
    audioBytes: 32_000,
    duration: 1,
    workSeconds: 0.5,
    hasAcks: false,
    maxMessages: 99,
    readLog,
    resultFormat: 'string',
    onSent() {},
    maxMessageBytes: 1e6,
    log,
    publisher,
    journal,
    signal,
    text: { warnings: () => [], runAddOn: async () => summary },
    services,
  })
  const text = (await Array.fromAsync(outcome.result())).join('')
  type Result = { summarization: Envelope; audio_to_llm: Envelope; messages: string[] }
  return { lines, result: JSON.parse(text) as Result }
}

/** Cuts the log after its first line of a kind, as a process that is killed there leaves it. */
function cutBehind(lines: readonly string[], kind: RegExp): string[] {
  return lines.slice(0, lines.findIndex((line) => kind.test(line)) + 1)
}

const error = { status_code: 500, exception: 'AddonFailed', message: 'it broke down' }
const lost = failedEnvelope('summarization', error)
const made: Envelope = {
  success: true,
  is_empty: false,
  exec_time: 0.1,
  error: null,
  results: 'It rained.',
}

for (const [first, next, what] of [
  [lost, made, 'failed'],
  [made, lost, 'was made'],
] as const) {
  for (const kind of [/^summary /, /^message post_summarization\b/]) {
    test(`a summary that ${what} is kept by the next process, killed after ${kind}`, async () => {
      const before = cutBehind((await close(first)).lines, kind)
      const { result } = await close(next, before)
      assert.deepEqual(result.summarization, first)
      const sent = result.messages.filter((text) => text.includes('"post_summarization"'))
      assert.equal(sent.length, 1)
      const { data, error } = JSON.parse(sent[0]!)
      assert.deepEqual([data?.results ?? null, error], [first.results, first.error])
    })
  }
}

test('prompts are answered at the end, and never twice after a restart', async () => {
  const params: AddOnParams = {
    ...summarizing,
    post_processing: { summarization: false, audio_to_llm: true },
  }
  let asked: string[] = []
  const responses = [{ results: { prompt: 'Who?', response: 'They.' } }]
  const services: SessionServices = {
    translate: assert.fail,
    translatePartial: assert.fail,
    async answerPrompts(_utterances, { memoize }) {
      for (const part of ['notes', 'answer']) {
        await memoize({ part }, async () => {
          asked.push(part)
          return part
        })
      }
      return { ...made, results: responses, usage: { requests: 2, ...tokens } }
    },
  }
  const tokens = { prompt_tokens: 5, completion_tokens: 1 }
  const { lines } = await close(made, [], { params, services })
  assert.deepEqual(asked, ['notes', 'answer'])
  for (const [kind, missing] of [
    [/^answer .*"notes"/, ['answer']],
    [/^answer .*"answer"/, []],
    [/^prompted /, []],
    [/^message post_audio_to_llm\b/, []],
  ] as const) {
    asked = []
    const again = await close(made, cutBehind(lines, kind), { params, services })
    assert.deepEqual(asked, missing, `${kind}`)
    assert.deepEqual(again.result.audio_to_llm, { ...made, results: responses })
    const sent = again.result.messages.filter((text) => text.includes('"post_audio_to_llm"'))
    assert.deepEqual(
      sent.map((text) => JSON.parse(text).data),
      [{ results: responses }],
    )
  }
})

test('without a language model prompts fail with NotConfigured', async () => {
  const params: AddOnParams = {
    ...summarizing,
    post_processing: { summarization: false, audio_to_llm: true },
  }
  const { result } = await close(made, [], { params })
  assert.equal(result.audio_to_llm.error?.exception, 'NotConfigured')
})
