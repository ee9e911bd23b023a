// A session whose recognition resumes from a snapshot continues as if it had never stopped.
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { createFakeSpeechEngine } from '../../../test/support/asr/fake-speech-engine.ts'
import { plainText } from '../../../test/support/live/plain-text.ts'
import { FRAME, finalsIn, open } from '../../../test/support/live/sessions/test-recognition-loop.ts'
import { createLog } from '../../observability/log.ts'
import type { SessionText } from '../../text/live/session-text.ts'
import type { Snapshot } from '../journal/log-records.ts'
import { initialEndpointerState } from './endpointing/endpointer.ts'
import { RecognitionLoop } from './recognition-loop.ts'
import { createSessionLanguage } from './session-language.ts'

const pause = '.'.repeat(12)
const speech = '#'.repeat(20)

test('recognition resumes from any snapshot with the same result', async () => {
  const audio = `${'#'.repeat(150)}${pause}${speech}${pause}${'#'.repeat(180)}${pause}${speech}${pause}`
  const release = Promise.withResolvers<void>()
  const { advance, snapshots, reported } = open([audio], {
    before: (kind) => kind === 'final' && undefined,
  })
  await advance()
  release.resolve()
  assert.ok(snapshots.length >= 2)
  for (const snapshot of snapshots) {
    const resumed = open([audio], { from: JSON.parse(JSON.stringify(snapshot)) })
    const rest = await resumed.advance()
    const finals = (all: readonly string[]) => all.filter((line) => line.startsWith('final'))
    assert.deepEqual(finals(rest), finals(reported).slice(-finals(rest).length))
    assert.deepEqual(
      rest.filter((line) => line.startsWith('speech')),
      reported
        .filter((line) => line.startsWith('speech'))
        .slice(-rest.length + finals(rest).length),
    )
  }
})

test('utterances in progress at a snapshot are recognized after it', async () => {
  const held = new Promise<void>(() => {})
  const audio = `${speech}${pause}${'.'.repeat(160)}`
  const first = open([audio], { before: (kind) => (kind === 'final' ? held : undefined) })
  first.recognition.setAvailable(audio.length * FRAME)
  void first.run().catch(() => {})
  while (first.snapshots.length === 0) await new Promise(setImmediate)
  const [snapshot] = first.snapshots
  first.leaving.abort()
  assert.equal(snapshot!.ended.length, 1)
  const resumed = open([audio], { from: snapshot! })
  assert.deepEqual(await resumed.advance(), ['final 0 0 0-24'])
})

test('the last partial frame is recognized from a snapshot at the end', async () => {
  const audio = `${'.'.repeat(160)}${speech}`
  const frames = audio.length - 0.5
  const { advance, snapshots } = open([audio])
  const [last] = finalsIn(await advance(frames))
  const snapshot = snapshots.at(-1)!
  assert.equal(snapshot.position, audio.length)
  assert.deepEqual(finalsIn(await open([audio], { from: snapshot }).advance(frames)), [last])
})

test('finals stay in order during word changes, and snapshots lose none', async () => {
  const slow = Promise.withResolvers<void>()
  const mark = (until?: Promise<void>): SessionText['applyTransforms'] => {
    return async ({ words }) => {
      await until
      return words.map((word) => ({ ...word, text: `${word.text}!` }))
    }
  }
  const audio = `${'#'.repeat(170)}${pause}${'.'.repeat(160)}`
  const first = open([audio], { applyTransforms: mark(slow.promise) })
  first.recognition.setAvailable(audio.length * FRAME)
  first.recognition.end()
  const running = first.run()
  while (first.snapshots.length < 2) await new Promise(setImmediate)
  assert.deepEqual(finalsIn(first.reported), [])
  const snapshot = JSON.parse(JSON.stringify(first.snapshots[1])) as Snapshot
  assert.deepEqual([snapshot.language, snapshot.channels[0]!.lastWord], [null, null])
  slow.resolve()
  await running
  const resumed = open([audio], { applyTransforms: mark(), from: snapshot })
  assert.equal(finalsIn(first.reported).length, 2)
  assert.deepEqual(finalsIn(await resumed.advance()), finalsIn(first.reported))
})

test('a snapshot taken while a final is emitted has it either as emitted or as open', async () => {
  const audio = `${'#'.repeat(170)}${pause}${'.'.repeat(160)}`
  const [first, second] = finalsIn(await open([audio]).advance())
  const seen = new Set<string>()
  for (let ticks = 0; ticks < 20; ticks++) {
    const [detected, transformed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let calls = 0
    const { advance, snapshots } = open([audio], {
      before: (kind) => (kind === 'vad' && ++calls === 6 ? detected.promise : undefined),
      async applyTransforms({ words }) {
        if (second!.endsWith(words[0]!.text)) await transformed.promise
        return words
      },
    })
    const running = advance()
    while (calls < 6) await new Promise(setImmediate)
    detected.resolve()
    for (let tick = 0; tick < ticks; tick++) await undefined
    transformed.resolve()
    await running
    const rest = finalsIn(await open([audio], { from: snapshots[1]! }).advance())
    assert.deepEqual(rest, [first, second].slice(2 - rest.length), `after ${ticks} ticks`)
    seen.add(`${rest}`)
  }
  assert.equal(seen.size, 2, 'before and after the final')
})

/** A snapshot of a process whose model recognized Italian; one utterance awaits its text. */
const italianSnapshot: Snapshot = {
  position: 62,
  channels: [
    { endpoint: { ...initialEndpointerState(), frame: 62 }, after: 16_000, lastWord: null },
  ],
  ended: [
    {
      channel: 0,
      span: { number: 0, from: 0, to: 31 },
      segment: { start: 0, end: 16_000 },
      context: { start: 0, end: 16_000 },
    },
  ],
  language: 'it',
  work: 1,
}

test('a session resumes with another model and a language it supports', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'steno-test-'))
  t.after(() => rm(folder, { recursive: true }))
  const [path, channel] = [join(folder, 'audio'), join(folder, 'channel-0')]
  await writeFile(path, '')
  await writeFile(channel, new Uint8Array(new Int16Array(32_000).fill(8000).buffer))
  const speech = createFakeSpeechEngine('oui', { model: 'new', languages: ['fr', 'de'] })
  const config = { languages: [], code_switching: false }
  const { languages: installed } = speech
  const request = { model: 'stt-1', languages: [], codeSwitching: false, vocabulary: [] }
  const models: string[] = []
  const finals: unknown[] = []
  const loop = new RecognitionLoop(
    {
      engine: {
        ...speech.live!,
        recognizeFinal(utterance, options) {
          models.push(`${options.model} ${options.language}`)
          return speech.live!.recognizeFinal(utterance, options)
        },
      },
      selection: speech.selectModels(request),
      audio: {
        path,
        start: 0,
        isDenoised: false,
        channels: [channel],
        format: { encoding: 's16', sampleRate: 16_000, channels: 1 },
      },
      endpointing: { threshold: 0.6, hangover: 0.25, endpointing: 0.05, maxSeconds: 5 },
      language: createSessionLanguage(config, { installed, decided: italianSnapshot.language }),
      applyTransforms: plainText.applyTransforms,
      partialIntervalMs: 0,
      warn: assert.fail,
      wantsPartials: () => false,
      log: createLog('silent'),
      signal: new AbortController().signal,
    },
    italianSnapshot,
  )
  loop.end()
  for await (const event of loop.run()) {
    if (event.type === 'final') finals.push([event.view.text, event.view.language])
  }
  assert.deepEqual(models, ['new undefined'])
  assert.deepEqual(finals, [[' oui', 'fr']])
})
