import { readRecognitionRequest } from '../../src/asr/model-selection/recognition-request.ts'
import type { PcmFile, SpeechEngine } from '../../src/asr/speech-engine.ts'
import { assembleTranscript } from '../../src/jobs/pipeline/assemble-transcript.ts'
import type { Word } from '../../src/transcript/transcript.ts'

/** Recognizes a recording as a job does; all its batches run concurrently. */
export async function transcribe(
  engine: SpeechEngine,
  pcm: PcmFile,
): Promise<{ words: Word[]; uncovered: number }> {
  const signal = new AbortController().signal
  const { finals } = engine.selectModels(readRecognitionRequest({}))
  const batches = await engine.planRecognition([{ ...pcm, channel: 0 }], finals, { signal })
  const recognized = await Promise.all(batches.map((batch) => engine.runBatch(batch, { signal })))
  const { utterances } = assembleTranscript(
    recognized.map((segments) => ({ channel: 0, segments })),
  )
  return {
    words: utterances.flatMap((utterance) => utterance.words),
    uncovered: recognized.flat().reduce((sum, segment) => sum + segment.uncovered, 0),
  }
}
