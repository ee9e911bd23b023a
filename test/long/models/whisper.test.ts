import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { findTestWeights } from '../../../scripts/tests/test-tools/test-weights.ts'
import type { Recognizer } from '../../../src/asr/engines/recognizer.ts'
import { convertWhisper } from '../../../src/asr/engines/whisper/weights/convert.ts'
import { createWhisper } from '../../../src/asr/engines/whisper.ts'
import { readSamples } from '../../../src/asr/segmentation/read-samples.ts'
import { decodeMedia } from '../../../src/audio/decode-media.ts'

const weights = findTestWeights('whisper-base')
const skip = weights.missing ?? false
const { signal } = new AbortController()

let folder: string
let recognizer: Recognizer
before(async () => {
  if (weights.folder === undefined) return
  folder = await mkdtemp(join(tmpdir(), 'steno-whisper-'))
  await convertWhisper(weights.folder, folder, { signal })
  const languages = ['en', 'es', 'de']
  recognizer = await createWhisper({ id: 'w', revision: 'r', languages, folder })
})
after(async () => {
  if (weights.folder === undefined) return
  await recognizer.close()
  await rm(folder, { recursive: true, force: true })
})

async function read(name: string): Promise<Float32Array> {
  const file = join(import.meta.dirname, '../../fixtures', name)
  const options = { nameHint: name, signal, maxSeconds: 60 }
  const { channels } = await decodeMedia(file, join(folder, name), options)
  return readSamples(channels[0]!.path, 0, channels[0]!.samples)
}

test('Whisper base transcribes a speech', { skip }, async () => {
  const audio = await read('jfk.flac')
  const wanted = { language: undefined, languages: [], vocabulary: [], signal }
  const [best] = await recognizer.identifyLanguage!(audio, { languages: ['de', 'en'], signal })
  assert.equal(best?.language, 'en')
  const [found] = await recognizer.recognize([audio], wanted)
  assert.match(found!.words.map(({ text }) => text).join(' '), /ask not what your country can do/i)
  assert.equal(found!.language, 'en')
  const country = found!.words.find(({ text }) => /country/.test(text))!
  assert.ok(country.start > 3 && country.end < 7.5 && country.confidence > 0.8)
  const open = { ...wanted, draft: [] }
  const first = await recognizer.recognizePartial(audio.subarray(0, 5 * 16_000), open)
  const next = await recognizer.recognizePartial(audio, { ...open, draft: first.tokens })
  assert.ok(next.agreed > 0 && next.words.length > first.words.length)
})

test('Whisper base translates Spanish speech into English', { skip }, async () => {
  const audio = await read('spanish.ogg')
  const [text, start] = await recognizer.translate!([audio, audio.subarray(0, 5 * 16_000)], {
    language: 'es',
    signal,
  })
  assert.match(text!, /sense.* earth .*movement/i)
  assert.match(start!, /sense/i)
})
