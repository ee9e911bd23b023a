/**
 * Measures the latency of one live session on an idle server, and alternately while the queue
 * always holds recordings: it must not change by more than a fifth.
 */
import { Readable } from 'node:stream'
import type { Client } from '../../src/cli/client/client.ts'
import { percentile } from '../../src/cli/live/live-latency.ts'
import { report } from '../support/report.ts'
import { wavOf } from '../support/wav.ts'
import { startLiveServer } from './live-server.ts'
import { readSpeech, type Speech } from './speech.ts'
import { type Streamed, streamSpeech } from './stream.ts'

const ROUNDS = 3
/** Seconds of batch work that are queued for each session, which lasts about 60. */
const WORK_SECONDS = 90
const MAX_RATIO = 1.2

const { corpus, speeches } = await readSpeech()
const server = await startLiveServer()
const { client } = server
const recording = await upload(client, speeches)
await streamSpeech(client, speeches[0]!, { kind: 'fast' })
const copies = 1 + Math.ceil(WORK_SECONDS / (await timeOfJob()))

const alone: Streamed[] = []
const withRecordings: Streamed[] = []
let leftOver = 0
for (let round = 0; round < ROUNDS; round++) {
  const speech = speeches[round % speeches.length]!
  alone.push(await streamSpeech(client, speech, { kind: 'live', delay: 0 }))
  const ids: string[] = []
  for (let i = 0; i < copies; i++) ids.push(await client.create({ audio_url: recording }))
  withRecordings.push(await streamSpeech(client, speech, { kind: 'live', delay: 0 }))
  const jobs = await Promise.all(ids.map((id) => client.find(id)))
  leftOver += jobs.filter(({ status }) => status === 'queued' || status === 'processing').length
  for (const id of ids) await client.wait(id, () => {})
}
await server.stop()

const [quiet, busy] = [describe(alone), describe(withRecordings)]
const ratio = {
  firstPartialP50: busy.firstPartialMs.p50 / quiet.firstPartialMs.p50,
  firstPartialP95: busy.firstPartialMs.p95 / quiet.firstPartialMs.p95,
  finalP50: busy.finalMs.p50 / quiet.finalMs.p50,
  finalP95: busy.finalMs.p95 / quiet.finalMs.p95,
}
report({
  bench: 'live-beside-batch',
  corpus,
  rounds: ROUNDS,
  alone: quiet,
  withRecordings: busy,
  ratio,
  /** If no recordings are left at the end of a session, the queue was empty for a while. */
  recordingsLeft: leftOver,
  barsHeld: Math.max(ratio.firstPartialP50, ratio.finalP50) <= MAX_RATIO && leftOver >= ROUNDS,
})

function describe(streamed: readonly Streamed[]) {
  const [acks, firsts, finals] = [
    streamed.flatMap((s) => s.acks),
    streamed.flatMap((s) => s.firstPartials),
    streamed.flatMap((s) => s.finals),
  ]
  return {
    ackMs: { p50: percentile(acks, 0.5)!, p99: percentile(acks, 0.99)! },
    firstPartialMs: { p50: percentile(firsts, 0.5)!, p95: percentile(firsts, 0.95)! },
    finalMs: { p50: percentile(finals, 0.5)!, p95: percentile(finals, 0.95)! },
  }
}

/** Returns the seconds that one recording takes alone. */
async function timeOfJob(): Promise<number> {
  const started = performance.now()
  await client.wait(await client.create({ audio_url: recording }), () => {})
  return (performance.now() - started) / 1000
}

/** Uploads one recording of all speeches, which the jobs share. */
async function upload(to: Client, all: readonly Speech[]): Promise<string> {
  const wav = wavOf(Buffer.concat(all.map(({ samples }) => samples)))
  return to.upload({ filename: 'all.wav', open: async () => Readable.from([wav]) })
}
