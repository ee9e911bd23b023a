/** A worker process that diarizes, and loads no recognizer. */
import { createBatchTasks } from '../workers/recognition-tasks.ts'
import { serveTasks } from '../workers/serve-tasks.ts'
import { createDiarizer } from './diarizer.ts'

const detector = {
  detect: async () => new Float32Array(),
  stream: () => async () => 0,
}

await serveTasks(async () => createBatchTasks({ detector, recognizers: [] }, createDiarizer()))
