/** A worker process with the models of `tones.ts`; what is loud is speech. */

import { createLiveVad } from '../../../../src/asr/live-engine/detection/live-vad.ts'
import { VAD_FRAME } from '../../../../src/asr/segmentation/vad-frames.ts'
import { createDiarizer } from '../../../../src/asr/speakers/diarizer.ts'
import {
  createFinalTasks,
  createModelTasks,
  createPartialTasks,
  createRecordingTasks,
} from '../../../../src/asr/workers/recognition-tasks.ts'
import { serveRecognitionTasks } from '../../../../src/asr/workers/serve-recognition-tasks.ts'
import type { LocalModel } from '../../../../src/models/install/installed-models.ts'
import { bundledTones, loadTones } from '../tones.ts'

const [, role, stored] = process.argv.slice(2)

function isLoud(frame: Float32Array): number {
  return frame.some((sample) => Math.abs(sample) > 0.01) ? 1 : 0
}

const detector = {
  async detect(audio: Float32Array) {
    return Float32Array.from({ length: Math.ceil(audio.length / VAD_FRAME) }, (_, i) => {
      return isLoud(audio.subarray(i * VAD_FRAME, (i + 1) * VAD_FRAME))
    })
  },
  stream: () => async (inputs: readonly Float32Array[]) => Float32Array.from(inputs, isLoud),
}

await serveRecognitionTasks(async () => {
  if (role === 'vad') {
    const vad = createLiveVad(detector)
    return async (task) => (task.kind === 'vad' ? vad.detect(task.audio, task.request) : null)
  }
  if (role === 'model') {
    const recognizers = [loadTones(JSON.parse(stored!) as LocalModel)]
    return createModelTasks({ detector, recognizers }, async () => ({}))
  }
  const recognizers = [loadTones(bundledTones)]
  if (role === 'batch') return createRecordingTasks({ detector, recognizers }, createDiarizer())
  if (role === 'partials') return createPartialTasks(recognizers)
  return createFinalTasks({ detector, recognizers }, async () => ({}))
})
