/** A worker process that diarizes, and loads no recognizer. */

import { createDiarizer } from '../../../../src/asr/speakers/diarizer.ts'
import { createRecordingTasks } from '../../../../src/asr/workers/recognition-tasks.ts'
import { serveRecognitionTasks } from '../../../../src/asr/workers/serve-recognition-tasks.ts'

const detector = {
  detect: async () => new Float32Array(),
  stream: () => async (inputs: readonly Float32Array[]) => new Float32Array(inputs.length),
}

await serveRecognitionTasks(async () =>
  createRecordingTasks({ detector, recognizers: [] }, createDiarizer()),
)
