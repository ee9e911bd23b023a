import { AppError } from '../../../errors.ts'
import { checkSpeakerModelFile } from '../../../models/speaker-models.ts'
import type { Segment } from '../../engines/recognizer.ts'
import { readSamples } from '../../segmentation/read-samples.ts'
import type { SpeakerCounts } from '../../speech-engine.ts'
import { type DiarizationPipeline, openDiarizationPipeline } from './diarization-pipeline.ts'
import type { SpeakerEmbedder, WindowEmbedding } from './embedders/embedder.ts'
import { openFbankEmbedder } from './embedders/fbank-embedder.ts'
import { openXvectorEmbedder } from './embedders/xvector-embedder.ts'
import { xvectorModelPath } from './embedders/xvector-model.ts'
import type { SpeakerModelOutput } from './embedding-files.ts'
import { diarizationGrid } from './regions.ts'
import type { ModelFile, SpeakerModelSpec } from './speaker-model.ts'

/**
 * The regions to embed, in the samples of a file. `counts` are those of its channel, as far as they
 * are known.
 */
export type EmbeddingInput = {
  path: string
  regions: readonly Segment[]
  counts: SpeakerCounts
  signal: AbortSignal
}

/** A loaded model: embeds the speakers in some regions, or finds their turns. */
export type SpeakerModel = (input: EmbeddingInput) => Promise<SpeakerModelOutput>

/**
 * Loads a model; rejects with `speaker_model_unusable`, which names it, when an installed one was
 * changed.
 */
export async function openSpeakerModel(model: SpeakerModelSpec): Promise<SpeakerModel> {
  switch (model.kind) {
    case 'built-in':
      return embedWindows(await openXvectorEmbedder({ modelPath: xvectorModelPath }), model.id)
    case 'embedding':
      return embedWindows(await openEmbedding(model.embedding), model.id)
    case 'pipeline':
      return segmentTurns(await openPipeline(model), model.id)
    case 'unusable':
      throw new AppError('speaker_model_unusable', model.problem)
  }
}

async function openEmbedding(embedding: ModelFile): Promise<SpeakerEmbedder> {
  await requireIntact(embedding)
  return openFbankEmbedder({ modelPath: embedding.path }).catch((cause) =>
    refuseModel(embedding, cause),
  )
}

async function openPipeline(models: Extract<SpeakerModelSpec, { kind: 'pipeline' }>) {
  const { embedding, segmentation } = models
  await requireIntact(embedding)
  await requireIntact(segmentation)
  const paths = { embedding: embedding.path, segmentation: segmentation.path }
  return openDiarizationPipeline(paths).catch((cause) => refuseModel(segmentation, cause))
}

async function requireIntact(file: ModelFile): Promise<void> {
  const fault = await checkSpeakerModelFile(file)
  if (fault === undefined) return
  const since = fault === 'missing' ? ' since the server was started' : ''
  throw new AppError(
    'speaker_model_unusable',
    `'${file.name}' is ${fault}${since}; see 'steno models' and start the server again`,
  )
}

/**
 * The message omits the cause, which may contain paths of this machine; `steno doctor` shows it.
 */
function refuseModel({ name }: ModelFile, cause: unknown): never {
  const detail = `'${name}' cannot be loaded; 'steno doctor' says why`
  throw new AppError('speaker_model_unusable', detail, { cause })
}

/**
 * Returns a model that embeds windows. It reads the samples from the first region on, so it shifts
 * positions before and after.
 */
function embedWindows(embedder: SpeakerEmbedder, model: string): SpeakerModel {
  return async ({ path, regions, signal }) => {
    const [first, last] = [regions[0], regions.at(-1)]
    if (!first || !last) return { model, windows: [] }
    const samples = readSamples(path, first.start, last.end)
    const inside = regions.map((region) => shiftSpan(region, -first.start))
    const embedded = await embedder.embed(samples, inside, { signal, grids: [diarizationGrid] })
    const windows: WindowEmbedding[] = embedded.map((window) => shiftSpan(window, first.start))
    return { model, windows }
  }
}

/**
 * Returns a model that finds turns. A pipeline processes a recording as a whole: `planEmbeddings`
 * plans one region that starts at 0.
 */
function segmentTurns(pipeline: DiarizationPipeline, model: string): SpeakerModel {
  return async ({ path, regions, counts }) => {
    const samples = readSamples(path, 0, regions.at(-1)?.end ?? 0)
    return { model, turns: pipeline.find(samples, counts) }
  }
}

function shiftSpan<T extends Segment>(span: T, by: number): T {
  return { ...span, start: span.start + by, end: span.end + by }
}
