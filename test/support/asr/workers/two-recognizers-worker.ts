/** A worker process with two recognizers of each kind, which need no model files. */
import { createDiarizer } from '../../../../src/asr/speakers/diarizer.ts'
import {
  createFinalTasks,
  createPartialTasks,
  createRecordingTasks,
} from '../../../../src/asr/workers/recognition-tasks.ts'
import { serveRecognitionTasks } from '../../../../src/asr/workers/serve-recognition-tasks.ts'
import { echoes } from '../two-recognizers.ts'

const detector = {
  detect: async (audio: Float32Array) => new Float32Array(Math.ceil(audio.length / 512)).fill(1),
  stream: () => async (inputs: readonly Float32Array[]) => new Float32Array(inputs.length).fill(1),
}

await serveRecognitionTasks(async () => {
  const models = { detector, recognizers: echoes.finals }
  if (process.argv[3] === 'batch') return createRecordingTasks(models, createDiarizer())
  if (process.argv[3] === 'partials') return createPartialTasks(echoes.partials)
  return createFinalTasks(models, async () => ({}))
})
