import type { PcmFile, SpeechEngine } from '../../src/asr/speech-engine.ts'
import type { Word } from '../../src/transcript/transcript.ts'

/** Hears one recording as a job does; all its batches are in flight at once. */
export async function transcribe(
  engine: SpeechEngine,
  pcm: PcmFile,
): Promise<{ words: Word[]; uncovered: number }> {
  const signal = new AbortController().signal
  const batches = engine.planBatches(await engine.findSpeech(pcm, { signal }))
  const heard = (
    await Promise.all(batches.map((batch) => engine.recognize(pcm, batch, { signal })))
  ).flat()
  heard.sort((a, b) => a.segment.start - b.segment.start)
  return {
    words: heard.flatMap((segment) => segment.words),
    uncovered: heard.reduce((sum, segment) => sum + segment.uncovered, 0),
  }
}
