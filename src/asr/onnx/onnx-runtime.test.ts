import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { bundledModels } from '../model-files/bundled-packages.ts'
import { knownDevices, loadModel } from './onnx-runtime.ts'

test('an unsupported STENO_DEVICE is named in the error', async () => {
  const { vad } = bundledModels(join(import.meta.dirname, '../../../models'))
  const device = process.platform === 'win32' ? 'coreml' : 'dml'
  assert.ok(knownDevices().includes('cpu') && !knownDevices().includes(device))
  const message = new RegExp(`^STENO_DEVICE=${device} cannot be used: .*backend not found`)
  await assert.rejects(loadModel(vad, { device }), { message })
})
