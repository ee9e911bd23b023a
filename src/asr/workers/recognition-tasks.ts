import { AppError } from '../../errors.ts'
import { normalizeLevel } from '../gain.ts'
import { measureCosts } from '../live/capacity.ts'
import { recognizeFinal, recognizePartial } from '../live/recognize-utterance.ts'
import type { UtteranceEmbedder } from '../live/utterance-embedder.ts'
import { NOISE_CONTEXT } from '../noise.ts'
import { readSamples } from '../pcm.ts'
import { recognizeWithRepair } from '../recognize-with-repair.ts'
import type { RecognizeOptions, Recognizer } from '../recognizer.ts'
import { type DetectedSpeech, detectSpeech } from '../segments.ts'
import type { Diarizer } from '../speakers/diarizer.ts'
import { type RecognizedSegment, SAMPLE_RATE } from '../speech-engine.ts'
import { VAD_FRAME, type VoiceDetector, WARM_UP } from '../vad.ts'
import type { Task } from './protocol.ts'
import type { Perform } from './serve-tasks.ts'

/** The loaded models of a process that recognizes. The first recognizers are the usual ones. */
export type LoadedModels = {
  detector: Pick<VoiceDetector, 'detect' | 'stream'>
  recognizers: readonly Recognizer[]
}

type TaskOf<K extends Task['kind']> = Extract<Task, { kind: K }>

/** Returns the function that runs the tasks of recordings. */
export function createBatchTasks(models: LoadedModels, diarizer: Diarizer): Perform {
  return async (task, signal) => {
    switch (task.kind) {
      case 'detect':
        return detect(models, task)
      case 'recognize':
        return recognize(models, task, signal)
      case 'embed':
        return diarizer.embed(task, signal)
      case 'speakers':
        return diarizer.findSpeakers(task)
      case 'check':
        return check(models, signal)
      default:
        throw new TypeError(`not a task for batches: ${task.kind}`)
    }
  }
}

/**
 * Returns the function that runs the tasks of live utterances; `partials` are the recognizers of
 * open ones.
 */
export function createLiveTasks(
  models: LoadedModels & { partials: readonly Recognizer[] },
  embedUtterance: UtteranceEmbedder,
): Perform {
  const { detector, recognizers, partials } = models
  return async (task, signal) => {
    switch (task.kind) {
      case 'final': {
        const { model, utterance, wantsSpeaker } = task
        const recognizer = find(recognizers, model)
        const options = optionsOf(task, signal)
        const final = await recognizeFinal({ detector, recognizer }, utterance, options)
        if (!wantsSpeaker || final.words.length === 0) return { ...final, model }
        return { ...final, model, ...(await embedUtterance(utterance, final.words, signal)) }
      }
      case 'partial': {
        const { model } = task
        const recognizer = find([...partials, ...recognizers], model)
        return { ...(await recognizePartial(recognizer, task, optionsOf(task, signal))), model }
      }
      case 'measure':
        return measureCosts({ detector, recognizer: recognizers[0]!, partials: partials[0]! }, task)
      case 'check':
        for (const recognizer of partials) {
          const options = { draft: [], language: undefined, vocabulary: [], signal }
          await recognizer.recognizeOpen(new Float32Array(SAMPLE_RATE), options)
        }
        return check(models, signal)
      default:
        throw new TypeError(`not a task for live recognition: ${task.kind}`)
    }
  }
}

/** Returns the recognizer of a task; throws `engine_unavailable` when this process has no such. */
function find(recognizers: readonly Recognizer[], model: string): Recognizer {
  const found = recognizers.find(({ id }) => id === model)
  if (!found) throw new AppError('engine_unavailable', `it has no model ${model}`)
  return found
}

function optionsOf(
  { language, vocabulary }: Pick<RecognizeOptions, 'language' | 'vocabulary'>,
  signal: AbortSignal,
): RecognizeOptions {
  return { language, vocabulary, signal }
}

async function check({ detector, recognizers }: LoadedModels, signal: AbortSignal): Promise<null> {
  const options = { language: undefined, vocabulary: [], signal }
  for (const recognizer of recognizers) {
    const models = { detector, recognizer }
    await recognizeWithRepair(models, [new Float32Array(SAMPLE_RATE)], options)
  }
  return null
}

/**
 * Starts a little earlier and ends a little later, so that a part of a long recording gives the same result as the whole.
 */
async function detect(
  { detector }: LoadedModels,
  { path, start, end, samples = end }: TaskOf<'detect'>,
): Promise<DetectedSpeech> {
  const lead = Math.min(start, Math.max(WARM_UP, NOISE_CONTEXT) * VAD_FRAME)
  const until = Math.min(samples, end + NOISE_CONTEXT * VAD_FRAME)
  const audio = normalizeLevel(readSamples(path, start - lead, until))
  const { probabilities, noisy } = await detectSpeech(detector, audio)
  const own = [lead / VAD_FRAME, Math.ceil((lead + end - start) / VAD_FRAME)] as const
  return { probabilities: probabilities.slice(...own), noisy: noisy.slice(...own) }
}

async function recognize(
  { detector, recognizers }: LoadedModels,
  task: TaskOf<'recognize'>,
  signal: AbortSignal,
): Promise<RecognizedSegment[]> {
  const { path, segments, model } = task
  const models = { detector, recognizer: find(recognizers, model) }
  const pieces = segments.map(({ start, end }) => normalizeLevel(readSamples(path, start, end)))
  const recognized = await recognizeWithRepair(models, pieces, optionsOf(task, signal))
  return recognized.map(({ words, language, uncovered, warnings }, i) => {
    const segment = segments[i]!
    const offset = segment.start / SAMPLE_RATE
    const moved = words.map((word) => ({
      ...word,
      start: word.start + offset,
      end: word.end + offset,
    }))
    return { segment, words: moved, model, language, uncovered, warnings }
  })
}
