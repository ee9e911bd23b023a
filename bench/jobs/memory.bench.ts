/**
 * Measures the peak memory of the server and its processes over recordings of growing length (10
 * minutes, 1 and 3 hours; the longest recording of the corpus repeated): it must not grow. Linux
 * only (/proc).
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { glob, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createApp } from '../../src/app/app.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/observability/log.ts'
import { decodeCorpus, readCorpus } from '../support/corpus.ts'
import { report } from '../support/report.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { wavHeader } from '../support/wav.ts'

const LENGTHS = [600, 3600, 10_800]

const folder = await temporaryFolder()
const { name, recordings } = await readCorpus()
const { decoded, dispose } = await decodeCorpus(recordings)
const longest = [...decoded.values()].reduce((a, b) => (b.samples > a.samples ? b : a))
const audio = await readFile(longest.path)
await dispose()

for (const seconds of LENGTHS) {
  const file = join(folder, `${seconds}.wav`)
  await writeLong(file, seconds)
  const config = readConfig({
    STENO_DATA_DIR: join(folder, `data-${seconds}`),
    STENO_API_KEYS: 'bench:bench',
    STENO_MAX_AUDIO_S: '86400',
  })
  const app = await createApp(config, { log: createLog('warn') })
  const { id: fileId } = await app.jobs.service.upload('bench', {
    filename: 'long.wav',
    body: createReadStream(file),
    signal: new AbortController().signal,
  })
  await rm(file)
  const peak = { server: 0, processes: 0 }
  const watch = setInterval(async () => {
    peak.server = Math.max(peak.server, process.memoryUsage.rss())
    peak.processes = Math.max(peak.processes, await residentOfChildren())
  }, 250)
  const started = performance.now()
  await app.jobs.service.submit('bench', {
    params: { audio_url: 'bench', language_config: { languages: [], code_switching: false } },
    customMetadata: null,
    fileId,
    source: null,
  })
  await app.jobs.idle()
  clearInterval(watch)
  await app.close()
  const megabytes = (bytes: number) => Math.round(bytes / 1e6)
  report({
    bench: 'memory',
    corpus: name,
    workers: config.workers,
    seconds,
    serverMB: megabytes(peak.server),
    otherProcessesMB: megabytes(peak.processes),
    timesRealTime: seconds / ((performance.now() - started) / 1000),
  })
}
await rm(folder, { recursive: true })

async function writeLong(file: string, seconds: number): Promise<void> {
  const bytes = seconds * 32_000
  const parts = async function* () {
    yield wavHeader(bytes)
    for (let left = bytes; left > 0; left -= audio.length) yield audio.subarray(0, left)
  }
  await pipeline(Readable.from(parts()), createWriteStream(file))
}

/** Returns the sum of the resident bytes of all child processes. */
async function residentOfChildren(): Promise<number> {
  let total = 0
  for await (const file of glob('/proc/[0-9]*/status')) {
    const status = await readFile(file, 'utf8').catch(() => '')
    if (status.includes(`\nPPid:\t${process.pid}\n`))
      total += Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024
  }
  return total
}
