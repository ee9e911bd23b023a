/**
 * The baseline of the service: voice detection, encoder and decoder, one segment after the other,
 * without word times, retries or a server. It is one of several processes, which take every n-th
 * segment.
 */

import { loadMoonshine } from '../../src/asr/engines/moonshine/decoding/decoder.ts'
import { moonshineModels } from '../../src/asr/engines/moonshine/dimensions.ts'
import type { Segment } from '../../src/asr/engines/recognizer.ts'
import { bundledModels } from '../../src/asr/model-files/bundled-packages.ts'
import { readSamples } from '../../src/asr/segmentation/read-samples.ts'
import { loadVad } from '../../src/asr/segmentation/vad.ts'
import type { PcmFile } from '../../src/asr/speech-engine.ts'

/** A task from the parent: detect voice in `part`, then decode `segments`. */
export type BareTask = { pcm: PcmFile; part: Segment; segments: Segment[] }

const [folder = ''] = process.argv.slice(2)
const files = bundledModels(folder)
const detector = await loadVad(files.vad)
const model = await loadMoonshine(files.moonshineBase, moonshineModels.base)
const signal = new AbortController().signal

process.on('message', async ({ pcm, part, segments }: BareTask) => {
  await detector.detect(readSamples(pcm.path, part.start, part.end))
  for (const { start, end } of segments) {
    const maxTokens = Math.ceil(((end - start) / 16_000) * 6.5)
    const states = await model.encode(readSamples(pcm.path, start, end), { isNoisy: false })
    await model.decode([{ states, bounds: { maxTokens, minTokens: 0 }, draft: [] }], signal)
  }
  process.send?.('done')
})
process.send?.('ready')
