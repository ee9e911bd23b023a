/**
 * Measures the rate and the peak memory of the server during an upload of a gigabyte; as a
 * baseline, it writes the same bytes to a file and syncs it. Linux only (/proc).
 */
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { report } from '../support/report.ts'
import { peakMemory, serveSteno } from '../support/served.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { wavHeader } from '../support/wav.ts'

const BYTES = 999_000_000
const PART = Buffer.alloc(64 * 1024)
const ROUNDS = 3

const folder = await temporaryFolder()
const steno = await serveSteno(join(folder, 'data'))
const idle = await peakMemory(steno.process)
// The memory of a first, small upload is the baseline of the large one.
await upload(32_000)
const small = await peakMemory(steno.process)

const rounds: { plain: number; upload: number }[] = []
for (let round = 0; round < ROUNDS; round++) {
  rounds.push({ plain: await timed(write), upload: await timed(() => upload(BYTES)) })
}
const large = await peakMemory(steno.process)
const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!
const megabytes = (bytes: number) => Math.round(bytes / 1e6)
report({
  bench: 'upload',
  megabytes: megabytes(BYTES),
  megabytesPerSecond: BYTES / 1e6 / median(rounds.map((round) => round.upload)),
  timeToPlainWrite: median(rounds.map((round) => round.upload / round.plain)),
  idleMB: megabytes(idle),
  afterSmallMB: megabytes(small),
  peakMB: megabytes(large),
})
await steno.stop()
await rm(folder, { recursive: true })

async function* recording(bytes: number): AsyncGenerator<Buffer> {
  yield wavHeader(bytes)
  for (let left = bytes; left > 0; left -= PART.length) yield PART.subarray(0, left)
}

async function write(): Promise<void> {
  const handle = await open(join(folder, 'plain'), 'w')
  for await (const part of recording(BYTES)) await handle.write(part)
  await handle.sync()
  await handle.close()
}

async function upload(bytes: number): Promise<void> {
  const boundary = 'bench'
  async function* form() {
    yield Buffer.from(
      `--${boundary}\r\ncontent-disposition: form-data; name="audio"; filename="a.wav"\r\n\r\n`,
    )
    yield* recording(bytes)
    yield Buffer.from(`\r\n--${boundary}--\r\n`)
  }
  const response = await fetch(`${steno.url}/v2/upload`, {
    method: 'POST',
    headers: {
      'x-service-key': 'bench',
      'content-type': `multipart/form-data; boundary=${boundary}`,
    },
    body: ReadableStream.from(form()),
    duplex: 'half',
  } as RequestInit)
  if (!response.ok) throw new Error(await response.text())
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}
