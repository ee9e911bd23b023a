import { writeSync } from 'node:fs'
import {
  createDiskSessionStore,
  openDiskSessionStore,
} from '../../../src/storage/live/disk-session-store.ts'
import { createRandom } from '../random/random.ts'

/** Returns the audio of every session in these tests, byte by byte. */
export function audioAt(from: number, to: number): Buffer {
  const bytes = Buffer.alloc(to - from)
  for (let i = 0; i < bytes.length; i++) bytes[i] = Math.imul(from + i, 2_654_435_761) >>> 24
  return bytes
}

/**
 * Returns the n-th line of a log, of random length; `audio` bytes of audio were written before it.
 */
export function lineOf(n: number, audio: number, length = 0): string {
  return JSON.stringify({ n, audio, text: 'é'.repeat(length) })
}

/** Returns how much audio a line reports. */
export function audioAfter(line: string): number {
  return JSON.parse(line).audio
}

/** Opens the session in `folder`, or creates it. */
export function openOrCreate(folder: string) {
  return openDiskSessionStore(folder, { audioAfter }).catch((error) => {
    if (error.code === 'file_not_found') return createDiskSessionStore(folder)
    throw error
  })
}

/** Writes forever, and sends its parent the number of each line once it is written. */
async function writeForEver(folder: string, seed: number): Promise<never> {
  const random = createRandom(seed)
  const files = await openOrCreate(folder)
  let n = (await Array.fromAsync(files.readLines())).flat().length
  let audio = files.audioBytes
  for (;;) {
    const calls = Array.from({ length: 1 + random() * 6 }, async () => {
      const from = audio
      audio += random() < 0.2 ? 0 : Math.floor(random() * 20_000)
      const lines = Array.from({ length: 1 + random() * 3 }, () => {
        return lineOf(n++, audio, random() * (random() < 0.05 ? 100_000 : 200))
      })
      const last = n
      await files.write(audioAt(from, audio), lines)
      writeSync(1, `${last}\n`)
    })
    await Promise.all(calls)
    if (random() < 0.1) await files.sync()
  }
}

if (import.meta.main) await writeForEver(process.argv[2]!, Number(process.argv[3]))
