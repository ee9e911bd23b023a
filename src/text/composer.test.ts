import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createLog } from '../log.ts'
import { Composer, type ComposerOptions } from './composer.ts'
import type { AddOnError } from './envelope.ts'

const nothing = { utterances: [] }
const { signal } = new AbortController()

function resultWith(params: Record<string, unknown>) {
  return { audioDuration: 0, distinctChannels: 1, transcriptionTime: 1, params }
}

function openComposer(t: TestContext, options: Partial<ComposerOptions> = {}): Composer {
  const composer = new Composer({ log: createLog('silent'), ...options })
  t.after(() => composer.close())
  return composer
}

/** A composer whose steps misbehave as their names say, and what it tells of those. */
function openFaulty(t: TestContext, patience = 30) {
  const entry = new URL('composer.fixture.ts', import.meta.url)
  const composer = openComposer(t, { entry, patience })
  return async (...steps: string[]): Promise<Record<string, AddOnError>> => {
    return JSON.parse(await composer.compose(nothing, resultWith({ steps }), { signal }))
  }
}

test('a result is composed in a thread, as JSON text', async (t) => {
  const composer = openComposer(t)
  const utterance = {
    channel: 0,
    language: 'en',
    words: [{ text: 'Hello.', start: 0, end: 1, confidence: 0.9 }],
  }
  const params = { translation: true }
  const text = await composer.compose({ utterances: [utterance] }, resultWith(params), { signal })
  const { transcription, translation } = JSON.parse(text)
  assert.equal(transcription.full_transcript, 'Hello.')
  assert.equal(translation.error.exception, 'NotConfigured')
})

test('a step that breaks the thread down, hangs or throws is left out, and says why', async (t) => {
  const compose = openFaulty(t, 0.2)
  const given = await compose('good', 'crash', 'hang', 'throw', 'good again')
  assert.deepEqual(
    Object.entries(given).map(([name, { status_code, exception }]) => {
      return `${name} ${status_code} ${exception}`
    }),
    ['crash 500 AddonFailed', 'hang 504 AddonTimeout', 'throw 500 AddonFailed'],
  )
  assert.ok(!JSON.stringify(given).includes('quotes'))
})

test('several compositions at once wait for each other', async (t) => {
  const compose = openFaulty(t)
  const all = await Promise.all([compose('good'), compose('crash'), compose('good')])
  assert.deepEqual(
    all.map((given) => Object.keys(given)),
    [[], ['crash'], []],
  )
})

test('a composition that is aborted ends at once, and the next one goes on', async (t) => {
  const entry = new URL('composer.fixture.ts', import.meta.url)
  const composer = openComposer(t, { entry })
  const abort = new AbortController()
  const hanging = composer.compose(nothing, resultWith({ steps: ['hang'] }), abort)
  abort.abort(new Error('the server stops'))
  await assert.rejects(hanging, /the server stops/)
  const text = await composer.compose(nothing, resultWith({ steps: ['good'] }), { signal })
  assert.equal(text, '{}')
})
