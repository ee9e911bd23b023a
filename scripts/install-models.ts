// Installs the bundled models, packs their weights for this processor and compiles the modules;
// `npm ci` and `npm run models` run it.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { installModels } from '../src/asr/model-files/install-bundled.ts'
import { prepackModels } from '../src/asr/model-files/prepacked/prepack-models.ts'
import { removeDamagedPrepacked } from '../src/asr/model-files/prepacked/prepacked-models.ts'
import { readConfig } from '../src/config/config.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const { models } = readConfig({ STENO_MODELS_DIR: process.env.STENO_MODELS_DIR })
await installModels(models.folder, (line) => console.log(line))
// The models work without it, and the first start of a server tries again.
await removeDamagedPrepacked(models.folder)
  .then(() => prepackModels(models.folder))
  .catch((error) => {
    console.warn(`Cannot pack the weights of the models: ${(error as Error).message}`)
  })

// Compiles the modules that the first start would compile, and those of decoders, which cannot
// write the cache.
const env = { NODE_COMPILE_CACHE: `${root}node_modules/.cache/compile`, ...process.env }
const programs = [
  ['bin/steno.mjs', 'serve', '--help'],
  ['src/audio/decoder/decoder-process.ts'],
  // A decoder loads this when a file needs it.
  ['src/audio/libav/libav-audio.ts'],
]
for (const program of programs) {
  const args = ['--disable-warning=ExperimentalWarning', ...program]
  spawnSync(process.execPath, args, { cwd: root, env, stdio: 'ignore' })
}
