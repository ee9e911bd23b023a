import { AppError } from '../errors.ts'
import { readStoredModels } from '../models/install/installed-models.ts'
import { suggestModel } from '../models/recommend.ts'
import { REMOTE } from './engines/remote/remote-id.ts'
import { identifyLanguages } from './languages/identify-languages.ts'
import { createLiveEngine } from './live-engine/create-live-engine.ts'
import { defaultLimits, type SpeechEngineOptions } from './model-selection/engine-options.ts'
import { createModelInstaller } from './model-selection/model-installer.ts'
import {
  findMostAccurate,
  languagesOf,
  modelCapabilities,
  selectModels,
} from './model-selection/select-models.ts'
import { fuseSegments } from './recognition/fusion.ts'
import { detectSpeech } from './segmentation/detect-speech.ts'
import { GROUPING_TIMEOUT_PER_SECOND } from './segmentation/group-channels.ts'
import { planRecognition } from './segmentation/plan-recognition.ts'
import { fileSegments, splitSegments } from './segmentation/split-segments.ts'
import { diarizeChannels, type SpeakerWork } from './speakers/diarize-channels.ts'
import { createEmbeddingWorkers } from './speakers/embedding/embedding-workers.ts'
import { planEmbeddings } from './speakers/embedding/plan-embeddings.ts'
import { chooseSpeakerModel } from './speakers/embedding/speaker-model.ts'
import type {
  Batch,
  EngineOptions,
  IdentifyTask,
  PcmFile,
  RecognizedSegment,
  SpeechEngine,
} from './speech-engine.ts'
import { type Recognizers, startRecognizers } from './workers/start-recognizers.ts'
import { speakersTimeoutFor, TASK_TIMEOUT_S, timeoutFor } from './workers/task-timeouts.ts'

/** Seconds of one detection task: ten minutes, so that a long recording keeps all workers busy. */
const DETECT_SECONDS = 600
/** Timeout in seconds per second of audio. A fast core needs 0.04 to recognize. */
const RECOGNIZE_TIMEOUT_PER_SECOND = 2
const IDENTIFY_TIMEOUT_PER_SECOND = 5
/**
 * Large installed models take seconds per second of audio, and recognize unclear speech several
 * times.
 */
const STORED_TIMEOUT_PER_SECOND = 20

/**
 * The niceness of batch processes from the first live session on: where both want a core, batches
 * get about a tenth of it. It is not set earlier, because the processes would also yield to
 * everything else on the machine.
 */
const BATCH_NICENESS = 10

/** Starts worker processes; their models load in the background. */
export function createSpeechEngine(options: SpeechEngineOptions): SpeechEngine {
  const log = options.log.child({ module: 'asr' })
  const { folder, workers, detectSeconds = DETECT_SECONDS, pulls } = options
  const recognizers = startRecognizers({ ...options, log })
  const { start, pool, modelPools, remote, available, translators } = recognizers
  const { speakers, embeddingWorkers } = createSpeakerWork({ ...options, log }, recognizers)
  const onFirstAudio = () => {
    for (const workerPool of [pool, modelPools, embeddingWorkers])
      workerPool.setNiceness(BATCH_NICENESS)
  }
  const processesOf = recognizers.liveProcessesOf
  const liveOptions = { start, processesOf, workers, log, onFirstAudio }
  const live = options.live && createLiveEngine({ ...options.live, ...liveOptions })
  const isInstalled = (id: string) => readStoredModels(folder).some((model) => model.id === id)
  const installer = pulls && createModelInstaller({ pulls, available, isInstalled })
  return {
    get languages() {
      return languagesOf(available())
    },
    installer,
    get remote() {
      return remote?.describe()
    },
    selectModels: (request) => chooseModels(request, recognizers, options),
    workers,
    live,
    groupChannels: (task, options) => groupChannels(task, recognizers, options),
    planRecognition(channels, settings, options) {
      const { maxSeconds = modelCapabilities(settings.model, available()).maxSeconds } = options
      const findSpeech = (pcm: PcmFile, detectOptions: EngineOptions) => {
        return findSegments(pcm, recognizers, { ...detectOptions, maxSeconds, detectSeconds })
      }
      const planOptions = { ...options, findSpeech, maxSeconds, limit: workers + 1 }
      return planRecognition(channels, settings, planOptions)
    },
    identifyLanguages(batches, identification, options) {
      const identify = (task: IdentifyTask, signal: AbortSignal) => {
        return identifyLanguage(task, recognizers, signal)
      }
      const identifyOptions = { ...options, identify, limit: workers + 1 }
      return identifyLanguages(batches, identification, identifyOptions)
    },
    get translatedLanguages() {
      return languagesOf(translators())
    },
    translate: (task, options) => translate(task, recognizers, options),
    runBatch: (batch, options) => runBatch(batch, recognizers, options),
    diarize: (task, options) => diarizeChannels(speakers, task, options),
    async checkReady({ signal }) {
      // A probe runs before batch work: it checks that recognition works, not how long the queue
      // is.
      const taskOptions = { signal, timeout: TASK_TIMEOUT_S, priority: -1 }
      const checked =
        options.workersAtStart === 0 ? undefined : pool.run({ kind: 'check' }, taskOptions)
      await Promise.all([checked, live?.checkReady(taskOptions)])
    },
    async close() {
      const pools = [pool, modelPools, embeddingWorkers, live, remote, pulls]
      await Promise.all(pools.map((workerPool) => workerPool?.close()))
    },
  }
}

function chooseModels(
  request: Parameters<SpeechEngine['selectModels']>[0],
  { available }: Pick<Recognizers, 'available'>,
  { aliases = {}, models: limits = defaultLimits }: SpeechEngineOptions,
): ReturnType<SpeechEngine['selectModels']> {
  const named = { ...request, model: resolveModelName(request.model, aliases) }
  const knownLanguages = languagesOf(available())
  // A model may have been pulled a moment ago.
  const isFresh = named.languages.some((code) => !knownLanguages.includes(code))
  return selectModels(named, available({ isFresh }), (languages) => {
    return suggestModel(languages, { memoryBytes: limits.memory })
  })
}

function groupChannels(
  task: Parameters<SpeechEngine['groupChannels']>[0],
  { pool }: Pick<Recognizers, 'pool'>,
  { signal }: EngineOptions,
): ReturnType<SpeechEngine['groupChannels']> {
  const spans = task.channels.map(({ samples }) => ({ start: 0, end: samples }))
  const timeout = timeoutFor(spans, GROUPING_TIMEOUT_PER_SECOND)
  return pool.run({ kind: 'group-channels', ...task }, { signal, timeout })
}

/** Detects the speech of a channel, and cuts it at pauses. */
async function findSegments(
  pcm: PcmFile,
  { pool }: Pick<Recognizers, 'pool'>,
  {
    maxSeconds,
    detectSeconds: partSeconds,
    ...detectOptions
  }: EngineOptions & { maxSeconds: number; detectSeconds: number },
) {
  const speech = await detectSpeech(pool, pcm, { ...detectOptions, partSeconds })
  return splitSegments(speech, pcm.samples, { ...fileSegments, maxSeconds })
}

/** Recognizes a batch with its model, or with two whose words are then fused. */
async function runBatch(
  batch: Batch,
  recognizers: Recognizers,
  { signal }: EngineOptions,
): Promise<RecognizedSegment[]> {
  const { model, fusedWith } = batch
  if (fusedWith === undefined) return recognize(batch, recognizers, { model, signal })
  const [first, second] = await Promise.all([
    recognize(batch, recognizers, { model, signal }),
    recognize(batch, recognizers, { model: fusedWith, signal }),
  ])
  return fuseSegments(first, second)
}

function recognize(
  batch: Batch,
  { remote, isBundled, processesOf, batchingRunner }: Recognizers,
  { model, signal }: { model: string; signal: AbortSignal },
) {
  if (remote && model === REMOTE) return remote.recognize(batch, { signal, use: 'batch' })
  const perSecond = isBundled(model) ? RECOGNIZE_TIMEOUT_PER_SECOND : STORED_TIMEOUT_PER_SECOND
  const timeout = timeoutFor(batch.segments, perSecond)
  const task = { kind: 'recognize' as const, ...batch, model }
  return processesOf(model, 'batch', batchingRunner).run(task, { signal, timeout })
}

function identifyLanguage(
  task: IdentifyTask,
  { remote, processesOf, pool }: Recognizers,
  signal: AbortSignal,
) {
  if (remote && task.model === REMOTE) return remote.identify(task, { signal, use: 'batch' })
  const timeout = timeoutFor(task.segments, IDENTIFY_TIMEOUT_PER_SECOND)
  const taskOptions = { signal, timeout }
  return processesOf(task.model, 'batch', pool).run({ kind: 'identify', ...task }, taskOptions)
}

/** Translates with the installed model that makes the fewest errors in the language. */
async function translate(
  task: Parameters<SpeechEngine['translate']>[0],
  { translators, processesOf, pool }: Recognizers,
  { signal }: EngineOptions,
): ReturnType<SpeechEngine['translate']> {
  const { language, segments } = task
  const model = findMostAccurate(language, translators())?.id
  if (model === undefined) {
    throw new AppError('engine_unavailable', `no installed model translates ${language}`)
  }
  const taskOptions = { signal, timeout: timeoutFor(segments, STORED_TIMEOUT_PER_SECOND) }
  return processesOf(model, 'batch', pool).run({ kind: 'translate', ...task, model }, taskOptions)
}

/** Chooses the speaker model; its processes start when they are needed. */
function createSpeakerWork(
  { folder, workers, log }: SpeechEngineOptions,
  { pool, start }: Pick<Recognizers, 'pool' | 'start'>,
) {
  const speakerModel = chooseSpeakerModel(folder)
  if (speakerModel.kind === 'unusable')
    log.error({ problem: speakerModel.problem }, 'no speaker model')
  const embeddingWorkers = createEmbeddingWorkers({
    model: speakerModel,
    pool,
    start: () => start('diarization', 1),
  })
  const speakers: SpeakerWork = {
    workers,
    model: speakerModel.id,
    plan: (words, { samples }) => planEmbeddings(words, samples, speakerModel.kind),
    embed: (task, signal) => embeddingWorkers.embed({ ...task, model: speakerModel }, signal),
    findSpeakers(task, signal) {
      const timeout = speakersTimeoutFor(task.transcript)
      return pool.run({ kind: 'cluster-speakers', ...task }, { signal, timeout })
    },
  }
  return { speakers, embeddingWorkers }
}

/** Resolves the name of a model: an alias, a model, or any other label, which means `stt-1`. */
function resolveModelName(name: string, aliases: Readonly<Record<string, string>>): string {
  if (Object.hasOwn(aliases, name)) return aliases[name]!
  return ['stt-1', 'stt-3', 'stt-fusion', REMOTE].includes(name) ? name : 'stt-1'
}
