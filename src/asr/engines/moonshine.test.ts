import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { embeddedModels } from '../models/embedded-packages.ts'
import { readSamples } from '../segmentation/read-samples.ts'
import { createMoonshine } from './moonshine.ts'

const root = join(import.meta.dirname, '../../..')
const { signal } = new AbortController()
/** Samples that the header of the file takes. */
const HEADER = 22

test('listed words are preferred while the model writes, in batches too', async () => {
  const model = await createMoonshine(embeddedModels(join(root, 'models')).moonshineTiny, 'tiny')
  const audio = readSamples(join(root, 'test/fixtures/two-voices.wav'), HEADER, 8 * 16_000)
  const other = audio.subarray(0, 5 * 16_000)
  const hear = async (segments: Float32Array[], vocabulary: string[]) => {
    const options = { language: 'en', languages: [], vocabulary, signal }
    const heard = await model.recognize(segments, options)
    return heard.map(({ words }) => words.map(({ text }) => text).join(' '))
  }
  const plain = await hear([audio, other], [])
  assert.match(plain[0]!, /The best ematic is that/)
  assert.deepEqual(await hear([audio, other], ['Kubernetes', 'Grafana']), plain)
  for (const text of await hear([audio, other], ['Bestematic']))
    assert.match(text, /^The bestematic is that/)
  const options = { language: 'en', languages: [], vocabulary: ['Bestematic'], signal }
  const open = await model.recognizeOpen(audio, { ...options, draft: [] })
  assert.match(open.words.map(({ text }) => text).join(' '), /bestematic/)
  await model.close()
})
