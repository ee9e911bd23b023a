/**
 * Measures the memory of a server and its processes with two and four workers, with and without
 * prepacked models: after the start, and the peaks with live sessions and with recordings beside
 * them. Pages that several processes share count once. Linux only (/proc).
 */
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { prepackModels } from '../../../src/asr/model-files/prepacked/prepack-models.ts'
import { readConfig } from '../../../src/config/config.ts'
import { report } from '../../support/report.ts'
import { wavOf } from '../../support/wav.ts'
import { type LiveBenchServer, startLiveServer } from '../live-server.ts'
import { readSpeech } from '../speech.ts'
import { streamSpeech } from '../stream.ts'
import { type MemoryShares, sharesOf } from './memory-shares.ts'

const WORKERS = [2, 4]
/**
 * The number of live sessions alone, the capacity of two cores, and the number beside recordings.
 */
const SESSIONS = 8
const SESSIONS_BESIDE = 4
/** Speeches of a minute each in one recording. */
const SPEECHES = 2
const LOOK_MS = 250

const { corpus, speeches } = await readSpeech()
const recording = wavOf(Buffer.concat(speeches.slice(0, SPEECHES).map(({ samples }) => samples)))
const { models } = readConfig(process.env)
await prepackModels(models.folder)
for (const workers of WORKERS) {
  for (const isPrepacked of [true, false]) report(await measure(workers, isPrepacked))
}

async function measure(workers: number, isPrepacked: boolean) {
  const folder = isPrepacked ? models.folder : await modelsWithoutPrepacked()
  const server = await startLiveServer({
    STENO_MODELS_DIR: folder,
    STENO_WORKERS: String(workers),
  })
  await streamSpeech(server.client, speeches[0]!, { kind: 'fast' })
  const idle = await sharesOf(server.pid)
  const live = await peakDuring(server, () => runSessions(server, SESSIONS))
  const busy = await peakDuring(server, () => {
    const jobs = Array.from({ length: workers }, () => transcribe(server))
    return Promise.all([...jobs, runSessions(server, SESSIONS_BESIDE)])
  })
  await server.stop()
  if (!isPrepacked) await rm(folder, { recursive: true })
  return {
    bench: 'worker-memory',
    corpus,
    workers,
    isPrepacked,
    idleMB: megabytes(idle),
    liveMB: megabytes(live),
    busyMB: megabytes(busy),
  }
}

/** Returns the most memory that the server and its processes take until `work` has ended. */
async function peakDuring(
  server: LiveBenchServer,
  work: () => Promise<unknown>,
): Promise<MemoryShares> {
  let peak = await sharesOf(server.pid)
  const looking = setInterval(async () => {
    const now = await sharesOf(server.pid)
    if (now.proportional > peak.proportional) peak = now
  }, LOOK_MS)
  await work()
  clearInterval(looking)
  return peak
}

/** Runs concurrent sessions of a minute each. */
async function runSessions(server: LiveBenchServer, count: number): Promise<void> {
  const streams = Array.from({ length: count }, (_, i) => {
    return streamSpeech(server.client, speeches[i % speeches.length]!, { kind: 'live', delay: 0 })
  })
  await Promise.all(streams)
}

async function transcribe({ client }: LiveBenchServer): Promise<void> {
  const open = async () => Readable.from([recording])
  const audio_url = await client.upload({ filename: 'speech.wav', open })
  await client.wait(await client.create({ audio_url, diarization: true }), () => {})
}

/** Creates a models folder with the installed models that cannot be prepacked. */
async function modelsWithoutPrepacked(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-bench-'))
  for (const name of ['embedded.json', 'moonshine-base', 'moonshine-tiny', 'silero-vad.onnx'])
    await symlink(join(models.folder, name), join(folder, name))
  await writeFile(join(folder, 'prepacked'), '')
  return folder
}

function megabytes({ proportional, anonymous }: MemoryShares) {
  return { proportional: proportional / 1e6, anonymous: anonymous / 1e6 }
}
