// Puts the embedded models into place; `npm ci` runs it. Run it again by hand after a failed download.

import { installModels } from '../src/asr/models/install-embedded.ts'
import { readConfig } from '../src/config.ts'

const { models } = readConfig({ STENO_MODELS_DIR: process.env.STENO_MODELS_DIR })
await installModels(models.folder, (line) => console.log(line))
