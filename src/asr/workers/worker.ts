/** A recognition process: loads the models of its role, then runs one task after the other. */

import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { SAMPLE_RATE } from '../../audio/pcm.ts'
import type { Device } from '../../config/config.ts'
import type { LocalModel } from '../../models/install/installed-models.ts'
import type { MoonshineSize } from '../engines/moonshine/dimensions.ts'
import { createMoonshine } from '../engines/moonshine.ts'
import type { Recognizer } from '../engines/recognizer.ts'
import { loadStored } from '../engines/stored-recognizers.ts'
import { createLiveVad, type LiveVad } from '../live-engine/detection/live-vad.ts'
import { createUtteranceEmbedder } from '../live-engine/utterance-embedder.ts'
import { bundledModels } from '../model-files/bundled-packages.ts'
import { findPrepacked } from '../model-files/prepacked/prepacked-models.ts'
import { loadVad, type Vad } from '../segmentation/vad.ts'
import { createDiarizer, type Diarizer } from '../speakers/diarizer.ts'
import { openXvectorEmbedder } from '../speakers/embedding/embedders/xvector-embedder.ts'
import { xvectorModelPath } from '../speakers/embedding/embedders/xvector-model.ts'
import {
  createFinalTasks,
  createModelTasks,
  createPartialTasks,
  createRecordingTasks,
} from './recognition-tasks.ts'
import { type Perform, serveRecognitionTasks } from './serve-recognition-tasks.ts'
import type { WorkerRole } from './worker-protocol.ts'

const [folder = '', role = 'batch', stored = '', device = 'cpu'] = process.argv.slice(2) as [
  string,
  WorkerRole,
  string?,
  Device?,
]

/** Loads the models of the role, and returns the function that runs its tasks. */
async function load(): Promise<Perform> {
  if (role === 'diarization') return createDiarizationTasks(createDiarizer())
  const files = bundledModels(folder)
  if (role === 'partials') return createPartialTasks([await loadBundled('tiny')])
  const detector = await loadVad(files.vad)
  if (role === 'vad') return createVadTasks(createLiveVad(detector), detector)
  // Live sessions always use the built-in model: it is fast, and the similarity threshold is tuned
  // for it.
  const embedUtterance = createUtteranceEmbedder(() => {
    return openXvectorEmbedder({ modelPath: xvectorModelPath })
  })
  if (role === 'model') {
    const recognizer = await loadStored(JSON.parse(stored) as LocalModel, { device })
    return createModelTasks({ detector, recognizers: [recognizer] }, embedUtterance)
  }
  const models = { detector, recognizers: [await loadBundled('base')] }
  if (role === 'batch') return createRecordingTasks(models, createDiarizer())
  return createFinalTasks(models, embedUtterance)
}

/**
 * Loads a bundled model, prepacked if that exists and loads. Prepacked files that do not load are
 * removed, so the next start writes them again.
 */
async function loadBundled(size: MoonshineSize): Promise<Recognizer> {
  const load = (from: string) => createMoonshine(join(from, `moonshine-${size}`), size)
  const prepacked = findPrepacked(folder)
  if (!prepacked) return load(folder)
  return load(prepacked).catch(async () => {
    const recognizer = await load(folder)
    await rm(prepacked, { recursive: true, force: true }).catch(() => {})
    return recognizer
  })
}

function createDiarizationTasks(diarizer: Diarizer): Perform {
  return async (task, signal) => {
    if (task.kind === 'embed') return diarizer.embed(task, signal)
    throw new TypeError(`not a task for diarization: ${task.kind}`)
  }
}

function createVadTasks(vad: LiveVad, detector: Vad): Perform {
  return async (task) => {
    switch (task.kind) {
      case 'vad':
        return vad.detect(task.audio, task.request)
      case 'check':
        await detector.detect(new Float32Array(SAMPLE_RATE))
        return null
      default:
        throw new TypeError(`not a task for voice detection: ${task.kind}`)
    }
  }
}

await serveRecognitionTasks(load)
