import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { findTestWeights } from '../../../scripts/test-weights.ts'
import { decodeMedia } from '../../audio/media.ts'
import { readSamples } from '../pcm.ts'
import { convertWhisper } from '../whisper/convert.ts'
import { createWhisper } from './whisper.ts'

const weights = findTestWeights('whisper-base')
const { signal } = new AbortController()

test('Whisper base recognizes a speech', { skip: weights.missing ?? false }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'steno-whisper-'))
  try {
    await convertWhisper(weights.folder!, folder, { signal })
    const file = join(import.meta.dirname, '../../../test/fixtures/jfk.flac')
    const options = { nameHint: 'jfk.flac', signal, maxSeconds: 60 }
    const { channels } = await decodeMedia(file, join(folder, 'jfk'), options)
    const audio = readSamples(channels[0]!.path, 0, channels[0]!.samples)
    const recognizer = await createWhisper({ id: 'w', revision: 'r', languages: [], folder })
    const wanted = { language: undefined, languages: [], vocabulary: [], signal }
    const [best] = await recognizer.identifyLanguage!(audio, { languages: ['de', 'en'], signal })
    assert.equal(best?.language, 'en')
    const [found] = await recognizer.recognize([audio], wanted)
    assert.match(
      found!.words.map(({ text }) => text).join(' '),
      /ask not what your country can do/i,
    )
    assert.equal(found!.language, 'en')
    const country = found!.words.find(({ text }) => /country/.test(text))!
    assert.ok(country.start > 3 && country.end < 7.5 && country.confidence > 0.8)
    const open = { ...wanted, draft: [] }
    const first = await recognizer.recognizeOpen(audio.subarray(0, 5 * 16_000), open)
    const next = await recognizer.recognizeOpen(audio, { ...open, draft: first.tokens })
    assert.ok(next.agreed > 0 && next.words.length > first.words.length)
    await recognizer.close()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
