import { SAMPLE_RATE } from '../../audio/pcm.ts'
import { AppError } from '../../errors.ts'
import type { RecognitionSettings, RecognizeOptions, Recognizer } from '../engines/recognizer.ts'
import { identifyLanguageSpans } from '../languages/language-spans.ts'
import { measureFinals, measurePartial } from '../live-engine/capacity.ts'
import { recognizeFinal, recognizePartial } from '../live-engine/recognize-utterance.ts'
import type { UtteranceEmbedder } from '../live-engine/utterance-embedder.ts'
import { recognizeSegments } from '../recognition/recognize-segments.ts'
import { recognizeWithRepair } from '../recognition/recognize-with-repair.ts'
import { normalizeLevel } from '../segmentation/gain.ts'
import { groupChannels } from '../segmentation/group-channels.ts'
import { NOISE_REACH } from '../segmentation/noise.ts'
import { pausesOf } from '../segmentation/pauses.ts'
import { readSamples } from '../segmentation/read-samples.ts'
import type { DetectedSpeech } from '../segmentation/split-segments.ts'
import { detectSpeechAndNoise, type Vad } from '../segmentation/vad.ts'
import { VAD_FRAME, WARM_UP_FRAMES } from '../segmentation/vad-frames.ts'
import type { Diarizer } from '../speakers/diarizer.ts'
import type { Batch, RecognizedSegment, TranslateTask } from '../speech-engine.ts'
import type { Perform } from './serve-recognition-tasks.ts'
import type { WorkerTask } from './worker-protocol.ts'

/** The loaded models of a process that recognizes. The first recognizer is the default one. */
export type LoadedModels = {
  detector: Pick<Vad, 'detect' | 'stream'>
  recognizers: readonly Recognizer[]
}

type TaskOf<K extends WorkerTask['kind']> = Extract<WorkerTask, { kind: K }>

/** Returns the function that runs the tasks of recordings. */
export function createRecordingTasks(models: LoadedModels, diarizer: Diarizer): Perform {
  return async (task, signal) => {
    switch (task.kind) {
      case 'detect':
        return detect(models, task)
      case 'group-channels':
        return groupChannels(models.detector, task, signal)
      case 'recognize':
        return recognize(models, task, signal)
      case 'recognize-all':
        return recognizeAll(models, task.batches, signal)
      case 'embed':
        return diarizer.embed(task, signal)
      case 'cluster-speakers':
        return diarizer.findSpeakers(task)
      case 'check':
        return tryRecognizers(models, signal)
      default:
        throw new TypeError(`not a task for batches: ${task.kind}`)
    }
  }
}

/** Returns the function that runs the tasks of utterances that have ended. */
export function createFinalTasks(models: LoadedModels, embedUtterance: UtteranceEmbedder): Perform {
  const { detector, recognizers } = models
  return async (task, signal) => {
    switch (task.kind) {
      case 'final': {
        const { utterance, wantsEmbedding, draft, isUrgent } = task
        const recognizer = findRecognizer(recognizers, task.model)
        const model = recognizerName(recognizer)
        const options = { ...optionsOf(task, signal), draft, isUrgent }
        const final = await recognizeFinal({ detector, recognizer }, utterance, options)
        if (!wantsEmbedding || final.words.length === 0) return { ...final, model }
        return { ...final, model, ...(await embedUtterance(utterance, final.words, signal)) }
      }
      case 'embed-utterance':
        return embedUtterance(task.utterance, task.words, signal)
      case 'measure':
        return measureFinals(detector, recognizers[0]!)
      case 'check':
        return tryRecognizers(models, signal)
      default:
        throw new TypeError(`not a task for finals: ${task.kind}`)
    }
  }
}

/** Returns the function that runs the tasks of open utterances. */
export function createPartialTasks(recognizers: readonly Recognizer[]): Perform {
  return async (task, signal) => {
    switch (task.kind) {
      case 'partial': {
        const { model } = task
        const recognizer = findRecognizer(recognizers, model)
        return { ...(await recognizePartial(recognizer, task, optionsOf(task, signal))), model }
      }
      case 'measure':
        return measurePartial(recognizers[0]!)
      case 'check':
        for (const recognizer of recognizers) {
          const options = { ...anyLanguage, draft: [], signal }
          await recognizer.recognizePartial(new Float32Array(SAMPLE_RATE), options)
        }
        return null
      default:
        throw new TypeError(`not a task for partials: ${task.kind}`)
    }
  }
}

/** Returns the function that runs the tasks of one installed model, of recordings and sessions. */
export function createModelTasks(models: LoadedModels, embedUtterance: UtteranceEmbedder): Perform {
  const finals = createFinalTasks(models, embedUtterance)
  const partials = createPartialTasks(models.recognizers)
  return async (task, signal) => {
    switch (task.kind) {
      case 'recognize':
        return recognize(models, task, signal)
      case 'recognize-all':
        return recognizeAll(models, task.batches, signal)
      case 'identify':
        return identifyLanguageSpans(
          { ...models, recognizer: findRecognizer(models.recognizers, task.model) },
          task,
          signal,
        )
      case 'translate':
        return translate(findRecognizer(models.recognizers, task.model), task, signal)
      case 'final':
      case 'check':
        return finals(task, signal)
      case 'partial':
        return partials(task, signal)
      default:
        throw new TypeError(`not a task for an installed model: ${task.kind}`)
    }
  }
}

/** Returns the name of a model in results: its id and version. */
function recognizerName({ id, revision }: Recognizer): string {
  return revision === undefined ? id : `${id}@${revision}`
}

/**
 * Returns the recognizer of a task; throws `engine_unavailable` when this process has no such
 * model.
 */
function findRecognizer(recognizers: readonly Recognizer[], model: string): Recognizer {
  const recognizer = recognizers.find(({ id }) => id === model)
  if (!recognizer) throw new AppError('engine_unavailable', `it has no model ${model}`)
  return recognizer
}

function optionsOf(
  { language, languages, vocabulary }: Omit<RecognitionSettings, 'model' | 'fusedWith'>,
  signal: AbortSignal,
): RecognizeOptions {
  return { language, languages, vocabulary, signal }
}

const anyLanguage = { language: undefined, languages: [], vocabulary: [] }

async function tryRecognizers(
  { detector, recognizers }: LoadedModels,
  signal: AbortSignal,
): Promise<null> {
  const options = { ...anyLanguage, signal }
  for (const recognizer of recognizers) {
    const models = { detector, recognizer }
    await recognizeWithRepair(models, [new Float32Array(SAMPLE_RATE)], options)
  }
  return null
}

/**
 * Detects speech in a range. It reads some audio on both sides, so that a part of a long recording
 * gives the same result as the whole.
 */
async function detect(
  { detector }: LoadedModels,
  { path, samples, start, end }: TaskOf<'detect'>,
): Promise<DetectedSpeech> {
  const before = Math.min(start / VAD_FRAME, Math.max(WARM_UP_FRAMES, NOISE_REACH))
  const to = Math.min(samples, end + NOISE_REACH * VAD_FRAME)
  const audio = normalizeLevel(readSamples(path, start - before * VAD_FRAME, to))
  const frames = Math.ceil((end - start) / VAD_FRAME)
  const { probabilities, noisy } = await detectSpeechAndNoise(detector, audio)
  const range = [before, before + frames] as const
  return { probabilities: probabilities.slice(...range), noisy: noisy.slice(...range) }
}

async function recognize(
  models: LoadedModels,
  batch: Batch,
  signal: AbortSignal,
): Promise<RecognizedSegment[]> {
  const [recognized] = await recognizeAll(models, [batch], signal)
  return recognized!
}

async function translate(
  recognizer: Recognizer,
  { path, segments, language }: TranslateTask,
  signal: AbortSignal,
): Promise<string[]> {
  if (!recognizer.translate) throw new TypeError(`${recognizer.id} does not translate`)
  const spoken = segments.map(({ start, end }) => normalizeLevel(readSamples(path, start, end)))
  return recognizer.translate(spoken, { language, signal })
}

/** Recognizes the segments of batches with equal settings together. */
async function recognizeAll(
  { detector, recognizers }: LoadedModels,
  batches: readonly Batch[],
  signal: AbortSignal,
): Promise<RecognizedSegment[][]> {
  const settings = batches[0]!
  const recognizer = findRecognizer(recognizers, settings.model)
  const spoken = batches.flatMap(({ path, segments }) => {
    return segments.map((segment) => {
      const audio = normalizeLevel(readSamples(path, segment.start, segment.end))
      return { audio, pauses: pausesOf(segment) }
    })
  })
  const options = optionsOf(settings, signal)
  const recognized = await recognizeSegments({ detector, recognizer }, spoken, options)
  const model = recognizerName(recognizer)
  let next = 0
  return batches.map(({ segments }) => {
    return segments.map((segment) => {
      const { words, language, uncovered, warnings } = recognized[next++]!
      const offset = segment.start / SAMPLE_RATE
      const shifted = words.map((word) => {
        return { ...word, start: word.start + offset, end: word.end + offset }
      })
      return { segment, words: shifted, model, language, uncovered, warnings }
    })
  })
}
