import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../../../src/errors.ts'
import type { MediaDeps } from '../../../src/jobs/pipeline/pipeline-deps.ts'

export type FakeRecording = {
  seconds: number
  channels?: number
  /** Channels whose audio equals an earlier one: `{ 1: 0 }`. */
  same?: Record<number, number>
}

/** Returns a recording that the fake media tools understand: its own description, in JSON. */
export function fakeRecording(recording: FakeRecording): AsyncIterable<Uint8Array> {
  return oneChunk(Buffer.from(JSON.stringify(recording)))
}

/** Yields the bytes as a single chunk. */
export async function* oneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

/** Creates media tools that need no decoder; `onDecode` may fail or delay a decoding. */
export function createFakeMedia(
  onDecode: (folder: string) => Promise<void> | void = () => {},
): MediaDeps {
  return {
    async probe(file) {
      const { seconds, channels = 1 } = await read(file)
      return { extension: 'wav', duration: seconds, channels, sampleRate: 16_000, codec: 'pcm' }
    },
    async decode(file, folder, { signal, maxSeconds }) {
      const { seconds, channels = 1, same = {} } = await read(file)
      if (seconds > maxSeconds) throw new AppError('media_too_long', `${seconds} s`)
      await onDecode(folder)
      signal.throwIfAborted()
      const decoded = []
      for (let channel = 0; channel < channels; channel++) {
        const path = join(folder, `ch${channel}.pcm`)
        const samples = seconds * 16_000
        await using pcm = await open(path, 'w')
        await pcm.truncate(samples * 2)
        decoded.push({ channel, path, samples, sameAs: same[channel] ?? null })
      }
      return { duration: seconds, channels: decoded }
    },
  }
}

async function read(file: string): Promise<FakeRecording> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as FakeRecording
  } catch (cause) {
    throw new AppError('media_unsupported', undefined, { cause })
  }
}
