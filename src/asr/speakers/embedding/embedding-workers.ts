import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import { AppError } from '../../../errors.ts'
import type { WorkerPool } from '../../workers/pool.ts'
import type { EmbedTask } from '../diarizer.ts'
import type { SpeakerModelSpec } from './speaker-model.ts'

/**
 * The timeout of a task in seconds, and its growth per second of audio. An embedding model of 30 MB
 * takes ten times as long as the built-in one (0.01); a pipeline processes every second of audio
 * ten times.
 */
const TIMEOUT = 60
const TIMEOUT_PER_SECOND = { 'built-in': 0.2, unusable: 0.2, embedding: 2, pipeline: 4 } as const

type Pool = Pick<WorkerPool, 'run' | 'setNiceness' | 'close'>

/** Embeds speakers in the processes that the model needs. */
export type EmbeddingWorkers = {
  embed(task: EmbedTask, signal: AbortSignal): Promise<void>
  setNiceness(niceness: number): void
  close(): Promise<void>
}

/**
 * Embedding models run in the batch workers. A pipeline gets one process of its own, created by
 * `start` when it is first needed: it cannot be interrupted, loads another ONNX Runtime, and
 * crashes its process on models that it cannot use.
 */
export function createEmbeddingWorkers(options: {
  model: SpeakerModelSpec
  pool: Pick<Pool, 'run'>
  start: () => Pool
}): EmbeddingWorkers {
  const { model, pool, start } = options
  let pipelinePool: Pool | undefined
  let niceness = 0
  let isClosed = false

  function openPipelinePool(): Pool {
    if (isClosed) throw new AppError('engine_unavailable', 'it is closed')
    if (!pipelinePool) {
      pipelinePool = start()
      pipelinePool.setNiceness(niceness)
    }
    return pipelinePool
  }

  async function embed(task: EmbedTask, signal: AbortSignal): Promise<void> {
    const samples = task.regions.reduce((sum, { start, end }) => sum + end - start, 0)
    const timeout = TIMEOUT + (TIMEOUT_PER_SECOND[model.kind] * samples) / SAMPLE_RATE
    const workers = model.kind === 'pipeline' ? openPipelinePool() : pool
    await workers.run({ kind: 'embed', ...task }, { signal, timeout })
  }

  return {
    embed: model.kind === 'pipeline' ? (task, signal) => retryOnExit(embed, task, signal) : embed,
    setNiceness(newNiceness) {
      niceness = newNiceness
      pipelinePool?.setNiceness(newNiceness)
    },
    async close() {
      isClosed = true
      await pipelinePool?.close()
    },
  }
}

/**
 * A process that ends may have been killed; when the next one ends too, the models are at fault.
 */
async function retryOnExit(
  embed: EmbeddingWorkers['embed'],
  task: EmbedTask,
  signal: AbortSignal,
): Promise<void> {
  try {
    await embed(task, signal).catch((error) => {
      if (!isEngineFailure(error)) throw error
      return embed(task, signal)
    })
  } catch (cause) {
    if (!isEngineFailure(cause)) throw cause
    const detail = "its process ended twice over the recording; 'steno doctor' tries it"
    throw new AppError('speaker_model_unusable', detail, { cause })
  }
}

function isEngineFailure(error: unknown): boolean {
  return error instanceof AppError && error.code === 'engine_failed'
}
