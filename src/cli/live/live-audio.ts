import { rmSync } from 'node:fs'
import { constants, copyFile, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodedExtension } from '../../audio/containers/detect-container.ts'
import { decodeMedia } from '../../audio/decode-media.ts'
import type { DecodedMedia } from '../../audio/decoder/decoder-messages.ts'
import { makeTemporaryFolder } from '../terminal/temporary-folder.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { findPath, requireFile } from '../transcribe/input-files.ts'
import { bytesPerSecond, type LiveFormat } from './live-api-types.ts'
import { findRecorder, MICROPHONE_FORMAT, recordAudio } from './live-recorder.ts'
import { isWav, readWavStream } from './live-wav.ts'

/** Audio to stream. `chunks` ends with the audio, or soon after its signal aborts. */
export type LiveAudioSource = AsyncDisposable & {
  format: LiveFormat
  chunks(signal: AbortSignal): AsyncIterable<Uint8Array>
}

/** The source of the audio. `raw` is the format of standard input when it is not WAV. */
export type AudioSource =
  | { kind: 'file'; path: string; isFast: boolean }
  | { kind: 'stdin'; raw: LiveFormat }
  | { kind: 'microphone' }

/** The maximum seconds of a decoded file, which is longer than any session may last. */
const MAX_SECONDS = 86_400

/** The chunk length of live audio, and the longer one of a file that is sent without pacing. */
const [CHUNK_SECONDS, FAST_CHUNK_SECONDS] = [0.1, 1]

/** Opens the audio source; files are decoded, and the header of standard input is read. */
export async function openLiveAudio(
  source: AudioSource,
  { env, stdin, signal }: Pick<Terminal, 'env' | 'stdin' | 'signal'>,
): Promise<LiveAudioSource> {
  if (source.kind === 'file') return openFile(source, signal)
  if (source.kind === 'stdin') return openStream(stdin, source.raw)
  const recorder = findRecorder(env)
  return {
    format: MICROPHONE_FORMAT,
    chunks: (stop) => recordAudio(recorder, stop),
    async [Symbol.asyncDispose]() {},
  }
}

/** Decodes a file to 16 kHz. All its channels are streamed, unless they are identical. */
async function openFile(
  { path, isFast }: { path: string; isFast: boolean },
  signal: AbortSignal,
): Promise<LiveAudioSource> {
  await requireFile(path)
  const folder = await makeTemporaryFolder()
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  // Removes the audio even when the process exits at once.
  process.once('exit', removeFolder)
  const remove = async () => {
    process.off('exit', removeFolder)
    removeFolder()
  }
  try {
    const media = await decodeMedia(await nameAsText(path, folder), folder, {
      nameHint: path,
      signal,
      maxSeconds: MAX_SECONDS,
    })
    const paths = distinctChannels(media)
    const format = { ...MICROPHONE_FORMAT, channels: paths.length }
    const seconds = isFast ? FAST_CHUNK_SECONDS : CHUNK_SECONDS
    return {
      format,
      chunks(stop) {
        const chunks = interleave(paths, seconds * format.sample_rate)
        return isFast
          ? chunks
          : paceChunks(chunks, { bytesPerSecond: bytesPerSecond(format), stop })
      },
      [Symbol.asyncDispose]: remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

/**
 * Returns a path of the file that is valid UTF-8, since the decoder gets it as text: if its own is
 * not, that of a copy in `folder`.
 */
async function nameAsText(path: string, folder: string): Promise<string> {
  const found = findPath(path)
  if (typeof found === 'string') return found
  const copy = join(folder, 'recording')
  await copyFile(found, copy, constants.COPYFILE_FICLONE)
  return copy
}

function distinctChannels({ channels }: DecodedMedia): string[] {
  const areSame = channels.every(({ sameAs }, i) => i === 0 || sameAs === 0)
  return (areSame ? channels.slice(0, 1) : channels).map(({ path }) => path)
}

/**
 * Reads files of 16-bit samples in parallel, the same number of samples of each at a time, and
 * interleaves them.
 */
async function* interleave(paths: readonly string[], samples: number): AsyncGenerator<Uint8Array> {
  const files = await Promise.all(paths.map((path) => open(path)))
  const channelSamples = new Int16Array(samples)
  try {
    for (;;) {
      const frames = new Int16Array(samples * files.length)
      let count = 0
      for (const [channel, file] of files.entries()) {
        const { bytesRead } = await file.read(channelSamples, 0, channelSamples.byteLength)
        count = bytesRead >> 1
        for (let i = 0; i < count; i++) frames[i * files.length + channel] = channelSamples[i]!
      }
      if (count === 0) return
      yield new Uint8Array(frames.buffer, 0, count * files.length * 2)
    }
  } finally {
    for (const file of files) await file.close()
  }
}

/** Delays each chunk until its last sample would have been spoken. */
async function* paceChunks(
  chunks: AsyncIterable<Uint8Array>,
  { bytesPerSecond, stop }: { bytesPerSecond: number; stop: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const startedAt = performance.now()
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    const wait = startedAt + (bytes / bytesPerSecond) * 1000 - performance.now()
    if (wait > 0) await sleep(wait, undefined, { signal: stop }).catch(() => {})
    if (stop.aborted) return
    yield chunk
  }
}

/**
 * Detects the format of standard input from its first bytes; its samples are then sent as they
 * arrive.
 */
async function openStream(stdin: Readable, raw: LiveFormat): Promise<LiveAudioSource> {
  const input = stdin.iterator({ destroyOnReturn: false })
  let head: Buffer = Buffer.alloc(0)
  let wav: ReturnType<typeof readWavStream>
  for (;;) {
    const isWavInput = isWav(head)
    if (isWavInput === true) wav = readWavStream(head)
    if (isWavInput === false || wav) break
    const { done, value } = await input.next()
    if (done) break
    head = Buffer.concat([head, value as Buffer])
  }
  if (!wav && encodedExtension(head) !== undefined) {
    throw new Error('Cannot stream standard input: it is neither WAV nor raw samples; give a file')
  }
  const { start, length, format } = wav ?? { start: 0, length: Infinity, format: raw }
  async function* samples(): AsyncGenerator<Uint8Array> {
    let remainingBytes = length
    async function* all() {
      yield head.subarray(start)
      yield* input as AsyncIterable<Buffer>
    }
    for await (const bytes of all()) {
      yield bytes.subarray(0, remainingBytes)
      remainingBytes -= bytes.length
      // A WAV file may have metadata after the samples.
      if (remainingBytes <= 0) return
    }
  }
  return { format, chunks: (stop) => until(samples(), stop), async [Symbol.asyncDispose]() {} }
}

/**
 * Forwards values until the signal aborts, even if that happens during the wait for the next one.
 */
async function* until<T>(values: AsyncGenerator<T>, signal: AbortSignal): AsyncGenerator<T> {
  const aborted = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  while (!signal.aborted) {
    const next = await Promise.race([values.next(), aborted])
    if (!next || next.done) return
    yield next.value
  }
}
