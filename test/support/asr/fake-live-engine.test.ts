import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { createFakeSpeechEngine } from './fake-speech-engine.ts'

test('the fake engine places its words where the growing file has sound', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'sound')
  const pcm = join(folder, 'ch0.pcm')
  const { live } = createFakeSpeechEngine('good morning all')
  const { signal } = new AbortController()
  const audio = {
    path,
    start: 0,
    format: { encoding: 's16' as const, sampleRate: 16_000, channels: 1 },
    isDenoised: false,
    channels: [pcm],
  }

  writeFileSync(path, new Uint8Array(Int16Array.from({ length: 5130 }).buffer))
  const silence = await live!.detectSpeech(
    audio,
    { from: 0, frames: 5130, isEnd: false },
    { signal },
  )
  assert.deepEqual([...silence.probabilities[0]!], new Array(10).fill(0))

  appendFileSync(path, new Uint8Array(Int16Array.from({ length: 16_000 }).fill(3277).buffer))
  const request = { from: 10, frames: 21_130, isEnd: true }
  const speech = await live!.detectSpeech(audio, request, { signal })
  assert.deepEqual([...speech.probabilities[0]!], new Array(32).fill(1))
  assert.equal(Math.round(speech.levels[0]![5]!), -20)

  const utterance = { path: pcm, segment: { start: 0, end: 16_384 } }
  const settings = { model: 'fake', language: undefined, languages: [], vocabulary: [], signal }
  const partial = await live!.recognizePartial(utterance, settings)
  assert.deepEqual(
    partial.words.map(({ text }) => text),
    ['good', 'morning'],
  )
  const final = await live!.recognizeFinal(utterance, settings)
  assert.deepEqual(
    final.words.map(({ text, start }) => [text, Math.round(start * 100) / 100]),
    [
      ['good', 0.32],
      ['morning', 0.55],
      ['all', 0.79],
    ],
  )
})
