/** A worker process that diarizes, and loads no recognizer. */

import { createDiarizer } from '../../../src/asr/speakers/diarizer.ts'
import { createBatchTasks } from '../../../src/asr/workers/recognition-tasks.ts'
import { serveTasks } from '../../../src/asr/workers/serve-tasks.ts'

const detector = {
  detect: async () => new Float32Array(),
  stream: () => async () => 0,
}

await serveTasks(async () => createBatchTasks({ detector, recognizers: [] }, createDiarizer()))
