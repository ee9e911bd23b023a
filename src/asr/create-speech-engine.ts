import type { Config, Device } from '../config/config.ts'
import { AppError } from '../errors.ts'
import { readStoredModels, type StoredModel } from '../models/install/installed-models.ts'
import type { PullQueue } from '../models/pull-queue.ts'
import { suggestModel } from '../models/recommend.ts'
import type { Log } from '../observability/log.ts'
import type { Metrics } from '../observability/metrics.ts'
import { ARRANGE_TIMEOUT_PER_SECOND } from './channels/arrange-channels.ts'
import { embeddedRecognizers } from './engines/embedded-recognizers.ts'
import type { RecognizerInfo } from './engines/recognizer.ts'
import { REMOTE } from './engines/remote/remote-id.ts'
import { createRemoteRecognizer, type RemoteOptions } from './engines/remote/remote-recognizer.ts'
import { createRemoteRunner } from './engines/remote/remote-runner.ts'
import { identifyLanguages } from './languages/identify-languages.ts'
import { createLiveEngine } from './live/worker-client.ts'
import { prepackInBackground } from './models/prepacked/prepack-in-background.ts'
import { joinSegments } from './recognition/fusion.ts'
import { createInstalledRecognizers } from './routing/installed-recognizers.ts'
import { createModelInstaller } from './routing/model-installer.ts'
import {
  type AvailableRecognizers,
  capabilitiesOf,
  findMostAccurate,
  languagesOf,
  routeRecognition,
} from './routing/routing.ts'
import { SEGMENTS_TOGETHER } from './segmentation/batches.ts'
import { detectSpeech } from './segmentation/detect-speech.ts'
import { planRecognition } from './segmentation/plan-recognition.ts'
import { cutSegments, fileSegments } from './segmentation/segments.ts'
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
import { joinTasks } from './workers/join-tasks.ts'
import { ModelPools, type ModelUse } from './workers/model-pools.ts'
import { type TaskRunner, WorkerPool } from './workers/pool.ts'
import type { WorkerRole } from './workers/protocol.ts'
import { speakersTimeoutFor, TASK_TIMEOUT_S, timeoutFor } from './workers/task-timeouts.ts'

/** Seconds of one detection task: ten minutes, so that a long recording keeps all workers busy. */
const DETECT_SECONDS = 600
/** Timeout in seconds per second of audio. A fast core needs 0.04 to recognize. */
const RECOGNIZE_TIMEOUT_PER_SECOND = 2
const IDENTIFY_TIMEOUT_PER_SECOND = 5
/**
 * Large installed models take seconds per second of audio, several times over for unclear speech.
 */
const STORED_TIMEOUT_PER_SECOND = 20

/**
 * Once a live session exists, batches get what it leaves: a tenth of a core that both want. Not
 * before, since their processes would also yield to everything else on the machine.
 */
const BATCH_NICENESS = 10

/** The folder that holds the models, and how many processes load them. */
export type SpeechEngineOptions = {
  folder: string
  workers: number
  /**
   * How many of them start at once, and the others when work waits; default: all. With 0, the check
   * of readiness leaves them out.
   */
  workersAtStart?: number
  log: Log
  metrics?: Pick<Metrics, 'workerRestarts'>
  /** Also creates processes for live sessions; seconds between two partials of an utterance. */
  live?: { partialInterval: number }
  /** The memory of installed models, and how long they stay loaded; default: as configured. */
  models?: ModelLimits
  /** Names that stand for one of the three models of the API. */
  aliases?: Readonly<Record<string, string>>
  /** A server that recognizes too. */
  remote?: RemoteOptions | undefined
  /** Installs the models that requests need; closed with the engine. */
  pulls?: PullQueue | undefined
  /** Prepacks the embedded models, which takes a process some seconds. */
  prepacks?: boolean
  /** What the worker processes load, and the module that they run; for tests. */
  recognizers?: AvailableRecognizers
  describe?: (model: StoredModel) => RecognizerInfo | undefined
  entry?: URL
  /** Seconds of one detection task; for tests. */
  detectSeconds?: number
}

/**
 * Bytes that installed models may take, seconds after which an idle one is unloaded, and the device
 * that runs them, by default the processor. On any other each model has one process, `isJoined`.
 */
export type ModelLimits = {
  memory: number
  idleSeconds: number
  device?: Device
  isJoined?: boolean
}

const usualLimits: ModelLimits = { memory: Number.MAX_SAFE_INTEGER, idleSeconds: 300 }

/** Returns the options that follow from the settings. */
export function engineOptions({
  models,
  workers,
  live,
  node: { roles },
}: Pick<Config, 'models' | 'workers' | 'live' | 'node'>): Omit<SpeechEngineOptions, 'log'> {
  const partialInterval = live.partialIntervalMs / 1000
  const { folder, aliases, memory, idleSeconds, device } = models
  return {
    folder,
    workers,
    aliases,
    models: { memory, idleSeconds, device, isJoined: device !== 'cpu' },
    // A second one would compete with the first, and with the rest of the server, while all load.
    workersAtStart: roles.includes('worker') ? 1 : 0,
    ...(live.slots !== 0 && roles.includes('live') && { live: { partialInterval } }),
  }
}

/** Starts worker processes; their models load in the background. */
export function createSpeechEngine(options: SpeechEngineOptions): SpeechEngine {
  const log = options.log.child({ module: 'asr' })
  const { folder, workers, aliases = {}, detectSeconds = DETECT_SECONDS, pulls } = options
  const { models: limits = usualLimits } = options
  const recognizers = startRecognizers({ ...options, log })
  const { start, pool, modelPools, remote, available, translators } = recognizers
  const { speakers, embeddingWorkers } = createSpeakerWork({ ...options, log }, recognizers)
  const live =
    options.live &&
    createLiveEngine({
      ...options.live,
      start,
      processesOf: recognizers.liveProcessesOf,
      workers,
      log,
      onUsed() {
        pool.yieldTo(BATCH_NICENESS)
        modelPools.yieldTo(BATCH_NICENESS)
        embeddingWorkers.yieldTo(BATCH_NICENESS)
      },
    })
  const isInstalled = (id: string) => readStoredModels(folder).some((model) => model.id === id)
  const installer = pulls && createModelInstaller({ pulls, available, isInstalled })
  const suggest = (languages: readonly string[]) => {
    return suggestModel(languages, { memoryBytes: limits.memory })
  }
  return {
    get languages() {
      return languagesOf(available())
    },
    installer,
    get remote() {
      return remote?.describe()
    },
    route(request) {
      const named = { ...request, model: modelBehind(request.model, aliases) }
      const known = languagesOf(available())
      // A model may have been pulled a moment ago.
      const isFresh = named.languages.some((code) => !known.includes(code))
      return routeRecognition(named, available({ isFresh }), suggest)
    },
    workers,
    live,
    arrangeChannels: (task, options) => arrangeChannels(task, recognizers, options),
    planRecognition(channels, settings, options) {
      const { maxSeconds = capabilitiesOf(settings.model, available()).maxSeconds } = options
      const findSpeech = async (pcm: PcmFile, detecting: EngineOptions) => {
        const speech = await detectSpeech(pool, pcm, { ...detecting, seconds: detectSeconds })
        return cutSegments(speech, pcm.samples, { ...fileSegments, maxSeconds })
      }
      const planning = { ...options, findSpeech, maxSeconds, limit: workers + 1 }
      return planRecognition(channels, settings, planning)
    },
    identifyLanguages(batches, identification, options) {
      const identify = (task: IdentifyTask, signal: AbortSignal) => {
        return identifyLanguage(task, recognizers, signal)
      }
      const identifying = { ...options, identify, limit: workers + 1 }
      return identifyLanguages(batches, identification, identifying)
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
      const how = { signal, timeout: TASK_TIMEOUT_S, priority: -1 }
      const checked = options.workersAtStart === 0 ? undefined : pool.run({ kind: 'check' }, how)
      await Promise.all([checked, live?.checkReady(how)])
    },
    async close() {
      const pools = [pool, modelPools, embeddingWorkers, live, remote, pulls]
      await Promise.all(pools.map((one) => one?.close()))
    },
  }
}

function arrangeChannels(
  task: Parameters<SpeechEngine['arrangeChannels']>[0],
  { pool }: Pick<Recognizers, 'pool'>,
  { signal }: EngineOptions,
): ReturnType<SpeechEngine['arrangeChannels']> {
  const spans = task.channels.map(({ samples }) => ({ start: 0, end: samples }))
  const timeout = timeoutFor(spans, ARRANGE_TIMEOUT_PER_SECOND)
  return pool.run({ kind: 'arrange', ...task }, { signal, timeout })
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
  return joinSegments(first, second)
}

function recognize(
  batch: Batch,
  { remote, isEmbedded, processesOf, joined }: Recognizers,
  { model, signal }: { model: string; signal: AbortSignal },
) {
  if (remote && model === REMOTE) return remote.recognize(batch, { signal, use: 'batch' })
  const perSecond = isEmbedded(model) ? RECOGNIZE_TIMEOUT_PER_SECOND : STORED_TIMEOUT_PER_SECOND
  const timeout = timeoutFor(batch.segments, perSecond)
  const task = { kind: 'recognize' as const, ...batch, model }
  return processesOf(model, 'batch', joined).run(task, { signal, timeout })
}

function identifyLanguage(
  task: IdentifyTask,
  { remote, processesOf, pool }: Recognizers,
  signal: AbortSignal,
) {
  if (remote && task.model === REMOTE) return remote.identify(task, { signal, use: 'batch' })
  const timeout = timeoutFor(task.segments, IDENTIFY_TIMEOUT_PER_SECOND)
  const how = { signal, timeout }
  return processesOf(task.model, 'batch', pool).run({ kind: 'identify', ...task }, how)
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
  const how = { signal, timeout: timeoutFor(segments, STORED_TIMEOUT_PER_SECOND) }
  return processesOf(model, 'batch', pool).run({ kind: 'translate', ...task, model }, how)
}

/**
 * Starts the batch workers. Processes of installed models start when a task needs them, and the
 * remote recognizer, if any, is listed like an installed one.
 */
function startRecognizers(options: SpeechEngineOptions) {
  const { folder, workers, log, metrics, recognizers: embedded = embeddedRecognizers } = options
  const { models: limits = usualLimits } = options
  const { entry = new URL('workers/worker.ts', import.meta.url) } = options
  const withEmbedded: WorkerPool[] = []
  const start = (role: WorkerRole, count: number, model?: StoredModel) => {
    const onLost = () => metrics?.workerRestarts.inc({ role })
    const isBatch = role === 'batch'
    const atStart = model ? 1 : isBatch ? options.workersAtStart : undefined
    const idleSeconds = isBatch ? limits.idleSeconds : undefined
    const { device = 'cpu' } = limits
    const args = [folder, role, ...(model ? [JSON.stringify(model), device] : [])]
    const pool = new WorkerPool({
      ...{ entry, args, workers: count, atStart, idleSeconds, log, onLost },
    })
    pool.start()
    if (['batch', 'live', 'partials'].includes(role)) withEmbedded.push(pool)
    return pool
  }
  const pool = start('batch', workers)
  const joined = joinTasks(pool, { processes: workers, mostSegments: SEGMENTS_TOGETHER })
  if (options.prepacks) {
    prepackInBackground(folder, log, () => {
      for (const one of withEmbedded) one.reload()
    })
  }
  const installed = createInstalledRecognizers({
    ...{ folder, embedded, memory: limits.memory },
    ...(options.describe && { describe: options.describe }),
    onTooLarge: ({ id, memoryBytes }) => {
      log.error(
        { model: id, memoryBytes, ...limits },
        'model ignored: it exceeds STENO_MODEL_MEMORY',
      )
    },
  })
  const remote = options.remote && createRemoteRecognizer(options.remote)
  const available = (how?: { isFresh: boolean }): AvailableRecognizers => {
    const local = installed.available(how)
    return remote ? { ...local, finals: [...local.finals, remote.describe()] } : local
  }
  const translators = (): AvailableRecognizers => {
    const { finals, partials } = installed.available()
    return { finals: finals.filter(({ capabilities }) => capabilities.translates), partials }
  }
  const modelPools = new ModelPools({
    ...{ workers, ...limits },
    start: (model, _, count) => start('model', count, model),
  })
  const isEmbedded = (id: string) => {
    return [...embedded.finals, ...embedded.partials].some((one) => one.id === id)
  }
  /** Returns the processes that have a model, or load it; `usual` have the embedded ones. */
  const processesOf = (id: string, use: ModelUse, usual: TaskRunner): TaskRunner => {
    if (isEmbedded(id)) return usual
    const model = installed.findStored(id) ?? modelPools.find(id)
    // The pool knows best what to answer when there is no such model.
    if (!model) return usual
    return { run: (task, how) => modelPools.run(model, use, { task, options: how }) }
  }
  let liveRemote: TaskRunner | undefined
  const liveProcessesOf = (id: string, usual: WorkerPool): TaskRunner => {
    if (!remote || id !== REMOTE) return processesOf(id, 'live', usual)
    const findFallback = (language: string) => {
      const model = findMostAccurate(language, installed.available())?.id
      return model ? { model, processes: processesOf(model, 'live', usual) } : undefined
    }
    liveRemote ??= createRemoteRunner({ remote, processes: usual, findFallback, log })
    return liveRemote
  }
  return {
    ...{ start, pool, joined, modelPools, remote, available, translators },
    ...{ isEmbedded, processesOf, liveProcessesOf },
  }
}

type Recognizers = ReturnType<typeof startRecognizers>

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
      return pool.run({ kind: 'speakers', ...task }, { signal, timeout })
    },
  }
  return { speakers, embeddingWorkers }
}

/** Returns the model of a name: a label that is only shown for the default stands for `stt-1`. */
function modelBehind(name: string, aliases: Readonly<Record<string, string>>): string {
  if (Object.hasOwn(aliases, name)) return aliases[name]!
  return ['stt-1', 'stt-3', 'stt-fusion', REMOTE].includes(name) ? name : 'stt-1'
}
