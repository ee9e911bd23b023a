/**
 * Compares a whole job of the running server with the bare loop (bare-loop.ts) on the same segments
 * and the same number of processes. Both alternate in one run, so that other load on the machine
 * affects both. Uses the longest recording of the corpus, repeated to at least ten minutes.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { openAsBlob } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createApp } from '../../src/app/app.ts'
import type { Segment } from '../../src/asr/engines/recognizer.ts'
import { readRecognitionRequest } from '../../src/asr/model-selection/recognition-request.ts'
import type { PcmFile } from '../../src/asr/speech-engine.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/observability/log.ts'
import type { BareTask } from '../asr/bare-loop.ts'
import { decodeCorpus, readCorpus } from '../support/corpus.ts'
import { report } from '../support/report.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { wavOf } from '../support/wav.ts'

const ROUNDS = 3
const MIN_SECONDS = 600

const folder = await temporaryFolder()
const { name, recordings } = await readCorpus()
const { decoded, dispose } = await decodeCorpus(recordings)
const longest = [...decoded.values()].reduce((a, b) => (b.samples > a.samples ? b : a))
const recording = await readFile(longest.path)
const copies = Math.max(1, Math.ceil((MIN_SECONDS * 16_000) / longest.samples))
const pcm: PcmFile = { path: join(folder, 'long.pcm'), samples: longest.samples * copies }
const long = Buffer.concat(Array.from({ length: copies }, () => recording))
await writeFile(pcm.path, long)
await writeFile(join(folder, 'long.wav'), wavOf(long))

const config = readConfig({
  STENO_DATA_DIR: join(folder, 'data'),
  STENO_PORT: '0',
  STENO_API_KEYS: 'bench:bench',
  STENO_RATE_LIMIT: '0',
  STENO_MAX_AUDIO_S: '86400',
})
const app = await createApp(config, { log: createLog('warn') })
const address = await app.http.listen({ host: '127.0.0.1', port: 0 })
const { finals } = app.speech.selectModels(readRecognitionRequest({}))
const { signal } = new AbortController()
const batches = await app.speech.planRecognition([{ ...pcm, channel: 0 }], finals, { signal })
const segments = batches.flatMap((batch) => batch.segments).sort((a, b) => a.start - b.start)
const bare = await Promise.all(Array.from({ length: config.workers }, startBareLoop))

const headers = { 'x-service-key': 'bench' }
const { audio_url } = await upload(join(folder, 'long.wav'))
const rounds: { bare: number; service: number; decode: number }[] = []
for (let round = 0; round < ROUNDS; round++) {
  const bareSeconds = await timed(() => Promise.all(bare.map(runBareLoop)))
  const { seconds, decode } = await runJob(audio_url)
  rounds.push({ bare: bareSeconds, service: seconds, decode })
}
for (const child of bare) child.kill()
await app.close()
await dispose()
await rm(folder, { recursive: true })

const audio = pcm.samples / 16_000
const median = (values: number[]) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
report({
  bench: 'throughput',
  corpus: name,
  model: 'moonshine-base',
  workers: config.workers,
  seconds: audio,
  segments: segments.length,
  bareTimesRealTime: audio / median(rounds.map((round) => round.bare)),
  serviceTimesRealTime: audio / median(rounds.map((round) => round.service - round.decode)),
  serviceToBare: median(rounds.map((round) => (round.service - round.decode) / round.bare)),
  decodeSeconds: median(rounds.map((round) => round.decode)),
  rounds: rounds.map((round) => [round.bare, round.service, round.decode]),
})

async function startBareLoop(): Promise<ChildProcess> {
  const child = fork(new URL('../asr/bare-loop.ts', import.meta.url), [config.models.folder], {
    serialization: 'advanced',
  })
  await once(child, 'message')
  return child
}

async function runBareLoop(child: ChildProcess, i: number): Promise<void> {
  const share = Math.ceil(pcm.samples / bare.length)
  const task: BareTask = {
    pcm,
    part: { start: i * share, end: Math.min(pcm.samples, (i + 1) * share) },
    segments: segments.filter((_: Segment, k: number) => k % bare.length === i),
  }
  child.send(task)
  await once(child, 'message')
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}

async function upload(file: string): Promise<{ audio_url: string }> {
  const form = new FormData()
  form.set('audio', await openAsBlob(file), 'long.wav')
  const response = await fetch(`${address}/v2/upload`, { method: 'POST', headers, body: form })
  return (await response.json()) as { audio_url: string }
}

/** Returns the seconds of a whole job, and of its decoding stage by its progress. */
async function runJob(audioUrl: string): Promise<{ seconds: number; decode: number }> {
  const started = performance.now()
  const created = await fetch(`${address}/v2/pre-recorded`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ audio_url: audioUrl }),
  })
  const { result_url } = (await created.json()) as { result_url: string }
  let decode = 0
  for (;;) {
    const seconds = (performance.now() - started) / 1000
    const progress = await fetch(`${result_url}/progress`, { headers })
    const { status, stage } = (await progress.json()) as { status: string; stage: string | null }
    if (status === 'done') return { seconds, decode }
    if (status === 'error') throw new Error('the job failed')
    if (stage === 'fetch' || stage === 'decode') decode = seconds
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
