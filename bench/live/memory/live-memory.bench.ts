/**
 * Measures the memory of the server and its processes over an hour of audio in concurrent live
 * sessions, as fast as the server reads it: it must not grow. Linux only (/proc).
 */
import { report } from '../../support/report.ts'
import { startLiveServer } from '../live-server.ts'
import { readSpeech, seconds } from '../speech.ts'
import { streamSpeech } from '../stream.ts'
import { residentOf } from './resident.ts'

const TOTAL_SECONDS = 3600
const AT_A_TIME = 4
/** Seconds of audio between two measurements. */
const INTERVAL_SECONDS = 300
/** Seconds until models, caches and code are loaded; later increases are growth. */
const WARM_UP_SECONDS = 900

const { corpus, speeches } = await readSpeech()
const server = await startLiveServer()
const measurements: { second: number; serverMB: number; allMB: number }[] = []
let startedCount = 0
let done = 0
const started = performance.now()
await measure()
await Promise.all(Array.from({ length: AT_A_TIME }, feed))
const elapsed = (performance.now() - started) / 1000
await server.stop()

const settled = measurements.filter(({ second }) => second >= WARM_UP_SECONDS)
report({
  bench: 'live-memory',
  corpus,
  sessionsAtATime: AT_A_TIME,
  seconds: done,
  measurements: measurements.map(({ second, serverMB, allMB }) => [second, serverMB, allMB]),
  serverMBPerHour: slope(settled.map(({ second, serverMB }) => [second / 3600, serverMB])),
  allMBPerHour: slope(settled.map(({ second, allMB }) => [second / 3600, allMB])),
  timesRealTime: done / elapsed,
})

async function feed(): Promise<void> {
  for (let i = 0; startedCount < TOTAL_SECONDS; i++) {
    const speech = speeches[i % speeches.length]!
    startedCount += seconds(speech.samples)
    await streamSpeech(server.client, speech, { kind: 'fast' })
    const before = Math.floor(done / INTERVAL_SECONDS)
    done += seconds(speech.samples)
    if (Math.floor(done / INTERVAL_SECONDS) > before) await measure()
  }
}

async function measure(): Promise<void> {
  const { own, all } = await residentOf(server.pid)
  measurements.push({ second: Math.round(done), serverMB: own / 1e6, allMB: all / 1e6 })
}

/** Returns the slope of the least-squares line. */
function slope(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (axis: 0 | 1) => points.reduce((sum, p) => sum + p[axis], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const over = points.reduce((sum, p) => sum + (p[0] - x) * (p[1] - y), 0)
  return over / points.reduce((sum, p) => sum + (p[0] - x) ** 2, 0)
}
