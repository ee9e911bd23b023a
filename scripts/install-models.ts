// Puts the embedded models into place, compiles the modules and removes what this platform does not
// need; `npm ci` runs it. `npm run models` runs it again.

import { spawnSync } from 'node:child_process'
import { globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installModels } from '../src/asr/models/install-embedded.ts'
import { readConfig } from '../src/config.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { models } = readConfig({ STENO_MODELS_DIR: process.env.STENO_MODELS_DIR })
await installModels(models.folder, (line) => console.log(line))

removeOtherPlatforms(join(root, 'node_modules/onnxruntime-node/bin/napi-v6'))

// What the first start would otherwise compile, and what decoders cannot keep: they write nowhere.
const env = { NODE_COMPILE_CACHE: `${root}node_modules/.cache/compile`, ...process.env }
const programs = [
  ['bin/steno.mjs', 'serve', '--help'],
  ['src/audio/decoder-process.ts'],
  // A decoder loads these when a file needs them.
  ['src/audio/libav-open.ts'],
  ['src/audio/libav-decode.ts'],
]
for (const program of programs) {
  const args = ['--disable-warning=ExperimentalWarning', ...program]
  spawnSync(process.execPath, args, { cwd: root, env, stdio: 'ignore' })
}

/** Removes the libraries of other platforms, 245 MB, from a folder of `PLATFORM/ARCHITECTURE`. */
function removeOtherPlatforms(folder: string): void {
  const own = join(process.platform, process.arch)
  const all = globSync('*/*', { cwd: folder })
  if (!all.includes(own)) return
  for (const name of all.filter((name) => name !== own))
    rmSync(join(folder, name), { recursive: true })
}
