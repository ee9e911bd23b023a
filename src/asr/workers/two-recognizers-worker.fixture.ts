/** A worker process with two recognizers of each kind, which need no model files. */
import { createDiarizer } from '../speakers/diarizer.ts'
import { createBatchTasks, createFinalTasks, createPartialTasks } from './recognition-tasks.ts'
import { serveTasks } from './serve-tasks.ts'
import { echoes } from './two-recognizers.fixture.ts'

const detector = {
  detect: async (audio: Float32Array) => new Float32Array(Math.ceil(audio.length / 512)).fill(1),
  stream: () => async () => 1,
}

await serveTasks(async () => {
  const models = { detector, recognizers: echoes.finals }
  if (process.argv[3] === 'batch') return createBatchTasks(models, createDiarizer())
  if (process.argv[3] === 'partials') return createPartialTasks(echoes.partials)
  return createFinalTasks(models, async () => ({}))
})
