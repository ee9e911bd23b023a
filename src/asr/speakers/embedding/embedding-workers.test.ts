import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../errors.ts'
import type { WorkerPool } from '../../workers/pool.ts'
import { createEmbeddingWorkers } from './embedding-workers.ts'
import type { SpeakerModelSpec } from './speaker-model.ts'

const { signal } = new AbortController()
const file = { name: 'mine', path: 'm.onnx', sha256: '' }
const pipeline: SpeakerModelSpec = {
  id: 'x',
  kind: 'pipeline',
  embedding: file,
  segmentation: file,
}

/** Pools that log their calls; `turns` answers each task with the next of these errors, if any. */
function makePools(errors: (AppError | undefined)[] = []) {
  const log: string[] = []
  const poolOf = (name: string, responses: (AppError | undefined)[]) => {
    const run = async (_task: unknown, { timeout }: { timeout: number }) => {
      log.push(`${name} ${timeout}`)
      const error = responses.shift()
      if (error) throw error
      return null
    }
    return {
      run: run as unknown as WorkerPool['run'],
      setNiceness: (niceness: number) => void log.push(`${name} yields to ${niceness}`),
      close: async () => void log.push(`${name} closed`),
    }
  }
  const start = () => {
    log.push('start')
    return poolOf('diarization', errors)
  }
  return { log, pool: poolOf('batch', []), start }
}

function taskOf(model: SpeakerModelSpec) {
  const regions = [{ start: 16_000, end: 16_000 * 11 }]
  return { path: 'p', to: 't', counts: {}, regions, model }
}

test('embeddings are computed in the batch workers', async () => {
  const { log, ...pools } = makePools()
  const builtIn: SpeakerModelSpec = { id: 'built-in', kind: 'built-in' }
  await createEmbeddingWorkers({ model: builtIn, ...pools }).embed(taskOf(builtIn), signal)
  const embedding: SpeakerModelSpec = { id: 'x', kind: 'embedding', embedding: file }
  await createEmbeddingWorkers({ model: embedding, ...pools }).embed(taskOf(embedding), signal)
  assert.deepEqual(log, ['batch 62', 'batch 80'])
})

test('a pipeline has one process of its own with the niceness of the others', async () => {
  const { log, ...pools } = makePools()
  const embeddings = createEmbeddingWorkers({ model: pipeline, ...pools })
  embeddings.setNiceness(10)
  assert.deepEqual(log, [])
  await embeddings.embed(taskOf(pipeline), signal)
  await embeddings.embed(taskOf(pipeline), signal)
  embeddings.setNiceness(11)
  await embeddings.close()
  const calls = [
    'diarization 100',
    'diarization 100',
    'diarization yields to 11',
    'diarization closed',
  ]
  assert.deepEqual(log, ['start', 'diarization yields to 10', ...calls])
})

test('a pipeline is retried once after a crash, then fails as unusable', async () => {
  const ended = new AppError('engine_failed', 'its process ended with code 255')
  const once = makePools([ended])
  await createEmbeddingWorkers({ model: pipeline, ...once }).embed(taskOf(pipeline), signal)
  assert.deepEqual(once.log, [
    'start',
    'diarization yields to 0',
    'diarization 100',
    'diarization 100',
  ])
  const embeddings = createEmbeddingWorkers({ model: pipeline, ...makePools([ended, ended]) })
  await assert.rejects(embeddings.embed(taskOf(pipeline), signal), {
    code: 'speaker_model_unusable',
  })
})

test('other errors of a pipeline are passed on without a retry', async () => {
  const { log, ...pools } = makePools([new AppError('storage_full')])
  const embeddings = createEmbeddingWorkers({ model: pipeline, ...pools })
  await assert.rejects(embeddings.embed(taskOf(pipeline), signal), { code: 'storage_full' })
  assert.equal(log.length, 3)
})

test('no process is started after close()', async () => {
  const { log, ...pools } = makePools()
  const embeddings = createEmbeddingWorkers({ model: pipeline, ...pools })
  await embeddings.close()
  await assert.rejects(embeddings.embed(taskOf(pipeline), signal), { code: 'engine_unavailable' })
  assert.deepEqual(log, [])
})
