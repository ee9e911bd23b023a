import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { createFakeSpeechEngine } from '../../../test/support/asr/fake-speech-engine.ts'
import { plainText } from '../../../test/support/live/plain-text.ts'
import { createLog } from '../../observability/log.ts'
import type { Snapshot } from '../journal/log-records.ts'
import { initialEndpointerState } from './endpointing/endpointer.ts'
import { RecognitionLoop } from './recognition-loop.ts'
import { createSessionLanguage } from './session-language.ts'

/** A snapshot of a process whose model recognized Italian; one utterance awaits its text. */
const snapshot: Snapshot = {
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
      language: createSessionLanguage(config, { installed, decided: snapshot.language }),
      applyTransforms: plainText.applyTransforms,
      partialIntervalMs: 0,
      warn: assert.fail,
      wantsPartials: () => false,
      log: createLog('silent'),
      signal: new AbortController().signal,
    },
    snapshot,
  )
  loop.end()
  for await (const event of loop.run()) {
    if (event.type === 'final') finals.push([event.view.text, event.view.language])
  }
  assert.deepEqual(models, ['new undefined'])
  assert.deepEqual(finals, [[' oui', 'fr']])
})
