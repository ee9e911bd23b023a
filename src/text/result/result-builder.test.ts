import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { captureLog } from '../../../test/support/server/captured-log.ts'
import type { AppError } from '../../errors.ts'
import { createLog } from '../../observability/log.ts'
import { ResultBuilder, type ResultBuilderOptions } from './result-builder.ts'
import type { AddOnError } from './steps/envelope.ts'
import type { ResultText } from './threads/result-task.ts'

const nothing = { utterances: [] }
const { signal } = new AbortController()
const account = 'acme'

function resultWith(params: Record<string, unknown>) {
  return { audioDuration: 0, distinctChannels: 1, transcriptionTime: 1, params }
}

function openResultBuilder(
  t: TestContext,
  options: Partial<ResultBuilderOptions> = {},
): ResultBuilder {
  const resultBuilder = new ResultBuilder({ log: createLog('silent'), ...options })
  t.after(() => resultBuilder.close())
  return resultBuilder
}

/**
 * Creates a result builder whose steps misbehave as their names say, and collects what it logs
 * about them.
 */
function openFaulty(t: TestContext, timeout = 30) {
  const entry = new URL('../../../test/support/text/misbehaving-result-thread.ts', import.meta.url)
  const resultBuilder = openResultBuilder(t, { entry, timeout })
  return async (...steps: string[]): Promise<Record<string, AddOnError>> => {
    const { text } = await resultBuilder.build(nothing, resultWith({ steps }), { account, signal })
    return JSON.parse(text)
  }
}

test('a result is composed in a thread as JSON text', async (t) => {
  const resultBuilder = openResultBuilder(t)
  const utterance = {
    channel: 0,
    language: 'en',
    words: [{ text: 'Hello.', start: 0, end: 1, confidence: 0.9 }],
  }
  const params = { translation: true }
  const { text, redacted } = await resultBuilder.build(
    { utterances: [utterance] },
    resultWith(params),
    {
      account,
      signal,
    },
  )
  assert.deepEqual(redacted, [])
  const { transcription, translation } = JSON.parse(text)
  assert.equal(transcription.full_transcript, 'Hello.')
  assert.equal(translation.error.exception, 'NotConfigured')
})

test('a step that crashes, hangs or throws is skipped and reports its error', async (t) => {
  const build = openFaulty(t, 0.2)
  const given = await build('good', 'crash', 'hang', 'throw', 'good again')
  assert.deepEqual(
    Object.entries(given).map(([name, { status_code, exception }]) => {
      return `${name} ${status_code} ${exception}`
    }),
    ['crash 500 AddonFailed', 'hang 504 AddonTimeout', 'throw 500 AddonFailed'],
  )
  assert.ok(!JSON.stringify(given).includes('quotes'))
})

test('without a required step there is no result', async (t) => {
  const build = openFaulty(t, 0.2)
  for (const step of ['required crash', 'required hang', 'required throw']) {
    await assert.rejects(
      build('throw', step, 'good'),
      ({ code, message }: AppError) => code === 'internal' && message.includes(step),
    )
  }
})

test('concurrent compositions run one after the other', async (t) => {
  const build = openFaulty(t)
  const all = await Promise.all([build('good'), build('crash'), build('good')])
  assert.deepEqual(
    all.map((given) => Object.keys(given)),
    [[], ['crash'], []],
  )
})

test('an aborted composition ends at once, and the next one runs', async (t) => {
  const entry = new URL('../../../test/support/text/misbehaving-result-thread.ts', import.meta.url)
  const resultBuilder = openResultBuilder(t, { entry })
  const abort = new AbortController()
  const hanging = resultBuilder.build(nothing, resultWith({ steps: ['hang'] }), {
    account,
    signal: abort.signal,
  })
  abort.abort(new Error('the server stops'))
  await assert.rejects(hanging, /the server stops/)
  const { text } = await resultBuilder.build(nothing, resultWith({ steps: ['good'] }), {
    account,
    signal,
  })
  assert.equal(text, '{}')
})

test('an add-on is retried in the thread, and another hang is reported', async (t) => {
  const texts = {
    params: '{"sentences":true}',
    result: JSON.stringify({ transcription: { utterances: [] } }),
    format: 'string' as const,
  }
  const options = { account, signal }
  const retried = await openResultBuilder(t).retry({ name: 'sentences', ...texts }, options)
  assert.equal(retried.outcome, 'made')
  const entry = new URL('../../../test/support/text/misbehaving-result-thread.ts', import.meta.url)
  const faulty = openResultBuilder(t, { entry, timeout: 0.2 })
  const given = await faulty.retry({ name: 'hang', ...texts }, options)
  assert.deepEqual(Object.keys(JSON.parse((given as unknown as ResultText).text)), ['hang'])
})

test('describe() describes the text modules once', async (t) => {
  const resultBuilder = openResultBuilder(t)
  const { addOns, entityGroups } = await resultBuilder.describe()
  assert.ok(addOns.some(({ name }) => name === 'subtitles'))
  assert.ok('GDPR' in entityGroups)
  assert.equal(resultBuilder.describe(), resultBuilder.describe())
})

test('a failed description is requested again', async (t) => {
  const resultBuilder = openResultBuilder(t)
  const lost = assert.rejects(resultBuilder.describe(), /no result was made/)
  // The thread starts after the tasks queued before this one.
  await new Promise(setImmediate)
  await resultBuilder.close()
  await lost
  assert.ok((await resultBuilder.describe()).addOns.length > 0)
})

test('errors of a step are logged with kind and location', async (t) => {
  const { log, lines } = captureLog()
  const entry = new URL('../../../test/support/text/misbehaving-result-thread.ts', import.meta.url)
  const resultBuilder = openResultBuilder(t, { entry, log })
  const steps = ['fault', 'throw', 'good']
  await resultBuilder.build(nothing, resultWith({ steps }), { account, signal })
  const faults = lines.filter(({ error }) => error === 'RangeError')
  assert.deepEqual(
    faults.map(({ step, frames }) => [step, frames]),
    ['fault', 'throw', 'fault'].map((step) => [step, ['    at here.ts:1:1']]),
  )
})

test('errors in the real thread are logged without the transcript, and skipped', async (t) => {
  const { log, lines } = captureLog()
  const resultBuilder = openResultBuilder(t, { log })
  const params = {
    custom_spelling: true,
    custom_spelling_config: { spelling_dictionary: null },
    subtitles: true,
    subtitles_config: { formats: 'my card' },
    sentences: true,
  }
  const words = [{ text: 'Hello.', start: 0, end: 1, confidence: 0.9 }]
  const transcript = { utterances: [{ channel: 0, language: 'en', words }] }
  const { text } = await resultBuilder.build(transcript, resultWith(params), { account, signal })
  const { transcription } = JSON.parse(text)
  assert.deepEqual([transcription.subtitles, transcription.sentences[0].results], [[], ['Hello.']])
  const faults = lines.filter(({ error }) => error === 'TypeError')
  assert.deepEqual(
    faults.map(({ step }) => step),
    ['custom_spelling', 'subtitles'],
  )
  for (const { frames } of faults) assert.match(String(frames), /src.text.\S+\.ts:\d+/)
  assert.doesNotMatch(JSON.stringify(lines), /my card/)
})

/**
 * Creates a builder that starts its second thread without delay; `begun` builds a result with one
 * step for an account.
 */
function openShared(t: TestContext, options: Partial<ResultBuilderOptions> = {}) {
  const entry = new URL('../../../test/support/text/misbehaving-result-thread.ts', import.meta.url)
  const resultBuilder = openResultBuilder(t, { entry, secondThreadDelay: 0, ...options })
  const ended: string[] = []
  return {
    ended,
    begin(account: string, step: string) {
      const abort = new AbortController()
      const options = { account, signal: abort.signal }
      const built = resultBuilder.build(nothing, resultWith({ steps: [step] }), options)
      const done = built.then(
        ({ text }) => text,
        (error: Error) => error.message,
      )
      void done.then(() => ended.push(`${account} ${step}`))
      return { done, end: () => abort.abort(new Error('ended')) }
    },
  }
}

test('an account waits for its own compositions, not those of others', async (t) => {
  const { begin, ended } = openShared(t)
  const long = begin('a', 'hang')
  const next = begin('a', 'good')
  await begin('b', 'good').done
  await begin('c', 'good').done
  long.end()
  await next.done
  assert.deepEqual(ended, ['b good', 'c good', 'a hang', 'a good'])
})

test('a waiting account runs before the next task of a running one', async (t) => {
  const { begin, ended } = openShared(t)
  const long = [begin('a', 'hang'), begin('b', 'hang')]
  const rest = [begin('a', 'good'), begin('c', 'good')]
  long[0]!.end()
  await Promise.all(rest.map(({ done }) => done))
  long[1]!.end()
  await long[1]!.done
  assert.deepEqual(ended, ['a hang', 'c good', 'a good', 'b hang'])
})

test('a second thread starts for waiting tasks and ends when idle', async (t) => {
  const { begin } = openShared(t)
  const first = await begin('a', 'tell thread').done
  assert.equal(await begin('b', 'tell thread').done, first)
  const long = begin('a', 'hang')
  const second = await begin('b', 'tell thread').done
  const third = await begin('c', 'tell thread').done
  assert.equal(new Set([first, second, third]).size, 3)
  long.end()
  await long.done
})

test('a short wait does not start a thread', async (t) => {
  const { begin } = openShared(t, { secondThreadDelay: 1000 })
  const all = ['a', 'b', 'c'].map((account) => begin(account, 'tell thread').done)
  assert.equal(new Set(await Promise.all(all)).size, 1)
})

test('an account that lost a step is confined to the second thread for an hour', async (t) => {
  let now = 0
  const { begin } = openShared(t, { now: () => now })
  const first = await begin('a', 'tell thread').done
  await begin('a', 'crash').done
  const next = await begin('b', 'tell thread').done
  assert.notEqual(next, first)
  assert.notEqual(await begin('a', 'tell thread').done, next)
  assert.equal(await begin('b', 'tell thread').done, next)
  now += 3_600_000
  assert.equal(await begin('a', 'tell thread').done, next)
})

test('each hanging step halves the timeout of the next', async (t) => {
  const given = await openFaulty(t, 2)('a hang', 'b hang')
  const messages = Object.values(given).map(({ message }) => message)
  assert.deepEqual(messages, ['a hang took longer than 2 s', 'b hang took longer than 1 s'])
})
