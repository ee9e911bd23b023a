import type { OnlineRecognizer, OnlineStream } from 'sherpa-onnx-node'
import { SAMPLE_RATE } from '../../../audio/pcm.ts'
import type { SherpaTask, SherpaText } from './sherpa-protocol.ts'

/** Maximum number of open streams; the least recently used one is dropped first. */
const MAX_STREAMS = 64
/** Seconds of silence to add after the end, since the model looks this far ahead. */
const TAIL = 1

/**
 * Returns a function that continues streams: each call passes the audio that the model has not
 * received yet, so it decodes an utterance once however often its text is requested.
 */
export function createStreams(
  recognizer: Pick<OnlineRecognizer, 'createStream' | 'isReady' | 'decode' | 'getResult'>,
): (task: SherpaTask) => Promise<Omit<SherpaText, 'cost'>> {
  const streams = new Map<number, OnlineStream>()
  const acceptSamples = (stream: OnlineStream, samples: Float32Array) => {
    stream.acceptWaveform({ samples, sampleRate: SAMPLE_RATE })
  }

  return async (task) => {
    if (task.kind !== 'continue') throw new TypeError('this model takes streams')
    const { samples, language, isLast } = task
    const openStream = streams.get(task.stream)
    const stream = openStream ?? recognizer.createStream()
    if (!openStream && language !== undefined) stream.setOption('language', language)
    streams.delete(task.stream)
    if (!isLast) streams.set(task.stream, stream)
    for (const oldest of streams.keys()) {
      if (streams.size <= MAX_STREAMS) break
      streams.delete(oldest)
    }
    acceptSamples(stream, samples.slice(openStream ? task.from : 0))
    if (isLast) {
      acceptSamples(stream, new Float32Array(TAIL * SAMPLE_RATE))
      stream.inputFinished()
    }
    while (recognizer.isReady(stream)) recognizer.decode(stream)
    const { text, tokens, timestamps, ys_probs } = recognizer.getResult(stream)
    return { text, tokens, times: timestamps, durations: [], logProbs: ys_probs, language: '' }
  }
}
