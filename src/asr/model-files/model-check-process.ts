/**
 * The process behind `checkModels`: runs the models of its first message once and reports the
 * result.
 */

import { SAMPLE_RATE } from '../../audio/pcm.ts'
import { openDiarizationPipeline } from '../speakers/embedding/diarization-pipeline.ts'
import { openFbankEmbedder } from '../speakers/embedding/embedders/fbank-embedder.ts'
import { checkSegmentation } from './check-segmentation.ts'
import type { ModelCheckResult, SpeakerModelFiles } from './model-check.ts'

/**
 * Returns twelve seconds of audio that rise and fall like speech: more than a window of the
 * segmentation.
 */
function syntheticSpeech(): Float32Array {
  return Float32Array.from({ length: 12 * SAMPLE_RATE }, (_, i) => {
    return 0.3 * Math.sin(i * i * 1e-4) * Math.sin(i / 2000)
  })
}

async function tryAll({ embedding, segmentation }: SpeakerModelFiles): Promise<void> {
  if (segmentation) await checkSegmentation(segmentation)
  if (segmentation && embedding) {
    const pipeline = await openDiarizationPipeline({ segmentation, embedding })
    pipeline.find(syntheticSpeech(), {})
  } else if (embedding) {
    const embedder = await openFbankEmbedder({ modelPath: embedding })
    await embedder.close()
  }
}

/** Joins the messages of an error and its causes, which say more. */
function explainCheckError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause === undefined
    ? error.message
    : `${error.message}: ${explainCheckError(error.cause)}`
}

process.once('message', async (files: SpeakerModelFiles) => {
  const result: ModelCheckResult = await tryAll(files).then(
    () => ({}),
    (error) => ({ problem: explainCheckError(error) }),
  )
  process.send?.(result)
})
