/**
 * A recognition process: loads the models of its role, then runs one task after the other. It holds
 * nothing but memory, so it may be killed at any time, and it ends with its parent.
 */
import { AppError, toPlain } from '../../errors.ts'
import { createMoonshine } from '../engines/moonshine.ts'
import { normalizeLevel } from '../gain.ts'
import { measureCosts } from '../live/capacity.ts'
import { createLiveVad, type LiveVad } from '../live/live-vad.ts'
import { recognizeFinal, recognizePartial } from '../live/recognize-utterance.ts'
import { createUtteranceEmbedder } from '../live/utterance-embedder.ts'
import { embeddedModels } from '../models/embedded.ts'
import { readSamples } from '../pcm.ts'
import type { RecognitionModels } from '../recognize-with-repair.ts'
import { recognizeWithRepair } from '../recognize-with-repair.ts'
import type { Recognizer } from '../recognizer.ts'
import { createDiarizer, type Diarizer } from '../speakers/diarizer.ts'
import {
  openTelephoneEmbedder,
  telephoneModelPath,
} from '../speakers/embedding/telephone-embedder.ts'
import type { RecognizedSegment } from '../speech-engine.ts'
import { SAMPLE_RATE } from '../speech-engine.ts'
import { loadVoiceDetector, VAD_FRAME, type VoiceDetector, WARM_UP } from '../vad.ts'
import type { FromWorker, Task, TaskResult, ToWorker, WorkerRole } from './protocol.ts'

process.on('disconnect', () => process.exit())
// Ctrl-C reaches all processes of a terminal; the server alone decides when work ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const [folder = '', role = 'batch'] = process.argv.slice(2) as [string, WorkerRole]
const running = new Map<number, AbortController>()

type Perform = (task: Task, signal: AbortSignal) => Promise<TaskResult[Task['kind']]>

/** Loads the models of the role, and returns the function that runs its tasks. */
async function load(): Promise<Perform> {
  if (role === 'diarization') return performDiarization(createDiarizer())
  const files = embeddedModels(folder)
  const detector = await loadVoiceDetector(files.voiceDetector)
  if (role === 'vad') return listen(createLiveVad(detector), detector)
  const models = { detector, recognizer: await createMoonshine(files.moonshineBase, 'base') }
  if (role === 'batch') return performBatches(models, createDiarizer())
  return performLive(models, await createMoonshine(files.moonshineTiny, 'tiny'))
}

function performDiarization(diarizer: Diarizer): Perform {
  return async (task, signal) => {
    if (task.kind === 'embed') return diarizer.embed(task, signal)
    throw new TypeError(`not a task for turns: ${task.kind}`)
  }
}

function performBatches(models: RecognitionModels, diarizer: Diarizer): Perform {
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

function performLive(models: LiveModels, partials: Recognizer): Perform {
  // Always the built-in model: live speakers are assigned while others wait, by a threshold tuned
  // for it.
  const embedUtterance = createUtteranceEmbedder(() => {
    return openTelephoneEmbedder({ modelPath: telephoneModelPath })
  })
  return async (task, signal) => {
    switch (task.kind) {
      case 'final': {
        const { utterance, wantsSpeaker } = task
        const final = await recognizeFinal(models, utterance, signal)
        if (!wantsSpeaker || final.words.length === 0) return final
        return { ...final, ...(await embedUtterance(utterance, final.words, signal)) }
      }
      case 'partial':
        return recognizePartial(partials, task, signal)
      case 'measure':
        return measureCosts({ ...models, partials }, task)
      case 'check':
        await partials.recognizeOpen(new Float32Array(SAMPLE_RATE), { draft: [], signal })
        return check(models, signal)
      default:
        throw new TypeError(`not a task for live recognition: ${task.kind}`)
    }
  }
}

type LiveModels = { detector: VoiceDetector; recognizer: Recognizer }

function listen(vad: LiveVad, detector: VoiceDetector): Perform {
  return async (task) => {
    switch (task.kind) {
      case 'vad':
        return vad.listen(task.audio, task.request)
      case 'check':
        await detector.detect(new Float32Array(SAMPLE_RATE))
        return null
      default:
        throw new TypeError(`not a task for listening: ${task.kind}`)
    }
  }
}

async function check(models: RecognitionModels, signal: AbortSignal): Promise<null> {
  await recognizeWithRepair(models, [new Float32Array(SAMPLE_RATE)], signal)
  return null
}

/**
 * Starts a little earlier, so that a part of a long recording gives the same result as the whole.
 */
async function detect(
  { detector }: RecognitionModels,
  { path, start, end }: DetectTask,
): Promise<Float32Array> {
  const lead = Math.min(start, WARM_UP * VAD_FRAME)
  const probabilities = await detector.detect(normalizeLevel(readSamples(path, start - lead, end)))
  return probabilities.slice(lead / VAD_FRAME)
}

type DetectTask = Extract<Task, { kind: 'detect' }>
type RecognizeTask = Extract<Task, { kind: 'recognize' }>

async function recognize(
  models: RecognitionModels,
  task: RecognizeTask,
  signal: AbortSignal,
): Promise<RecognizedSegment[]> {
  const pieces = task.segments.map(({ start, end }) => {
    return normalizeLevel(readSamples(task.path, start, end))
  })
  const recognized = await recognizeWithRepair(models, pieces, signal)
  return recognized.map(({ words, language, uncovered, warnings }, i) => {
    const segment = task.segments[i]!
    const offset = segment.start / SAMPLE_RATE
    const moved = words.map((word) => ({
      ...word,
      start: word.start + offset,
      end: word.end + offset,
    }))
    return { segment, words: moved, language, uncovered, warnings }
  })
}

function send(message: FromWorker): void {
  process.send?.(message)
}

async function answer(perform: Perform, id: number, task: Task): Promise<void> {
  const controller = new AbortController()
  running.set(id, controller)
  try {
    send({ type: 'result', id, result: await perform(task, controller.signal) })
  } catch (error) {
    send({ type: 'error', id, error: toPlain(error) })
  } finally {
    running.delete(id)
  }
}

try {
  const perform = await load()
  process.on('message', (message: ToWorker) => {
    if ('cancel' in message) running.get(message.id)?.abort()
    else void answer(perform, message.id, message.task)
  })
  send({ type: 'ready' })
} catch (cause) {
  const detail = cause instanceof Error ? cause.message : String(cause)
  send({ type: 'broken', error: toPlain(new AppError('engine_unavailable', detail, { cause })) })
}
