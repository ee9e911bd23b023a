// Converts the built-in speaker model: node scripts/speaker-model/convert-speaker-model.ts
// FINAL.EXT.RAW OUT.onnx FINAL.EXT.RAW lies in the package that
// src/asr/speakers/embedding/model/README.md names.

import { readFileSync } from 'node:fs'
import { writeModel } from '../../src/asr/onnx/onnx.ts'
import { readNnet3 } from './kaldi-reader.ts'
import { readXVectorNetwork } from './network.ts'
import { toOnnx } from './onnx-network.ts'

const [source, target] = process.argv.slice(2)
if (!source || !target) {
  console.error('Usage: node scripts/speaker-model/convert-speaker-model.ts FINAL.EXT.RAW OUT.onnx')
  process.exit(2)
}
try {
  const network = readXVectorNetwork(readNnet3(readFileSync(source)))
  writeModel(target, toOnnx(network, { halfPrecision: true }))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
