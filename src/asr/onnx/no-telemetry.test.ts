import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import {
  writeBandEnergyModel,
  writePitchModel,
} from '../../../test/support/asr/models/stand-in-speaker-models.ts'

test('loading ONNX Runtime writes no telemetry files', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-telemetry-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const module = new URL('onnx-runtime.ts', import.meta.url)
  // There is no such model, but the runtime has to start to find that out.
  const script = `import('${module}').then((asr) => asr.loadModel('none')).catch(() => {})`
  const { PATH } = process.env
  const env = { PATH, HOME: folder, TMPDIR: folder, XDG_CACHE_HOME: folder }
  execFileSync(process.execPath, ['-e', script], { env })
  assert.deepEqual(readdirSync(folder), [])
})

test('the ONNX Runtime of sherpa-onnx writes no telemetry files either', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-telemetry-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const models = mkdtempSync(join(tmpdir(), 'steno-models-'))
  t.after(() => rmSync(models, { recursive: true }))
  const files = { segmentation: join(models, 's.onnx'), embedding: join(models, 'e.onnx') }
  writePitchModel(files.segmentation)
  writeBandEnergyModel(files.embedding)
  const module = new URL('../speakers/embedding/diarization-pipeline.ts', import.meta.url)
  const script = `import('${module}')
    .then(({ openDiarizationPipeline }) => openDiarizationPipeline(${JSON.stringify(files)}))
    .then((pipeline) => pipeline.find(new Float32Array(16_000), {}))`
  const { PATH } = process.env
  const env = { PATH, HOME: folder, TMPDIR: folder, XDG_CACHE_HOME: folder }
  execFileSync(process.execPath, ['-e', script], { env, stdio: 'ignore' })
  assert.deepEqual(readdirSync(folder), [])
})
