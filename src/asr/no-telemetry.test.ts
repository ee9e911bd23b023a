import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'

test('ONNX Runtime keeps no id and no log of its use when it is loaded', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'steno-telemetry-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const module = new URL('onnx-runtime.ts', import.meta.url)
  // The model is none, but the runtime is started to find that out.
  const script = `import('${module}').then((asr) => asr.loadModel('none')).catch(() => {})`
  const { PATH } = process.env
  const env = { PATH, HOME: folder, TMPDIR: folder, XDG_CACHE_HOME: folder }
  execFileSync(process.execPath, ['-e', script], { env })
  assert.deepEqual(readdirSync(folder), [])
})
