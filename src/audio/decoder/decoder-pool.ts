import type { ChildProcess } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import type { Writable } from 'node:stream'
import { processStarter } from '../../workers/start-worker.ts'
import { SupervisedWorker } from '../../workers/supervised-worker.ts'
import { MAX_CHANNELS } from '../audio-limits.ts'
import { SAMPLE_RATE } from '../pcm.ts'
import { startDecoder } from './decoder-client.ts'
import { decoderLimitsOf } from './decoder-limits.ts'
import type { DecoderMessage, ShortMedia, ShortRequest } from './decoder-messages.ts'
import { findConfinement } from './sandbox/decoder-sandbox.ts'
import { INPUT_BYTES, INPUT_FOLDER } from './sandbox/isolated-root.ts'
import { watchMemory } from './sandbox/memory-watch.ts'

/**
 * Recordings that are longer, in seconds, are decoded in a process of their own, whose startup
 * hardly matters then.
 */
export const MAX_SHORT_SECONDS = 30
/** Larger files are not read as short ones; nearly all short recordings are smaller. */
const MAX_SHORT_BYTES = 6_000_000
/** The descriptor of the pipe for content, see `decoder-process.ts`. */
const CONTENT_DESCRIPTOR = 4
/** Seconds after which the file is decoded in a process of its own instead. */
const TIMEOUT = 20
/**
 * A process is replaced after this many files, because its limits apply to all of them together.
 */
const MAX_FILES = 50
/** How long a process waits for another file, in milliseconds. */
const IDLE_MS = 5000
/** Maximum processes; an idle one takes 60 MB. */
const MAX_PROCESSES = Math.max(2, availableParallelism())

const limits = decoderLimitsOf({ task: 'probe', file: '', nameHint: undefined })

type Decoder = {
  /** The pipe for the content of a file, if the process cannot open the file. */
  content: Writable | undefined
  worker: SupervisedWorker<DecoderMessage>
  files: number
  isBusy: boolean
  idle?: NodeJS.Timeout
}

/** The decoders by account, the one that has been idle longest first. */
const decoders = new Map<string, Decoder>()

/** A file to read, and the account whose files may share a process with it. */
export type ShortOptions = Pick<ShortRequest, 'nameHint' | 'maxSeconds'> & {
  account: string
  signal: AbortSignal
}

/** Returns whether a file has the size of a short recording. */
export async function isShortFile(file: string): Promise<boolean> {
  const fileStat = await stat(file).catch(() => undefined)
  return fileStat?.isFile() === true && fileStat.size <= MAX_SHORT_BYTES
}

/**
 * Reads a short file in a process that serves several files of the same account, since the start of
 * a process takes ten times as long as the file. The process has no folder to write to, reads one
 * file at a time, and ends after a few idle seconds. Returns undefined if no process is available
 * or it fails in any way: another process, for this file alone, then shows whether the file is at
 * fault.
 */
export async function decodeShortFile(
  file: string,
  { nameHint, maxSeconds, account, signal }: ShortOptions,
): Promise<ShortMedia | undefined> {
  const content = isIsolated() ? await readFile(file).catch(() => undefined) : undefined
  const decoder = decoders.get(account) ?? openDecoder(account)
  if (!decoder || decoder.isBusy || (isIsolated() && !content)) return undefined
  clearTimeout(decoder.idle)
  decoder.isBusy = true
  decoder.files++
  const { worker } = decoder
  const maxDecoded = Math.min(MAX_SHORT_SECONDS, maxSeconds ?? MAX_SHORT_SECONDS)
  const input = content
    ? { file: `${INPUT_FOLDER}/recording`, sentBytes: content.length }
    : { file }
  const request: ShortRequest = { task: 'short', ...input, nameHint, maxSeconds, maxDecoded }
  worker.start()
  if (content) decoder.content?.write(content)
  const memory = watchMemory(worker.pid, {
    limitBytes: limits.memoryBytes,
    onExceeded: () => void worker.close(),
  })
  const ended = await worker.run(request, {
    timeout: TIMEOUT,
    signal,
    receive: (message) => (message.type === 'progress' ? undefined : message),
  })
  memory.close()
  decoder.isBusy = false
  const response = 'response' in ended ? ended.response : undefined
  const media = response?.type === 'done' ? (response.result as ShortMedia) : undefined
  if (media && decoder.files < MAX_FILES) keepIdle(account, decoder)
  else discardDecoder(account, decoder)
  signal.throwIfAborted()
  return media && isPlausible(media) ? media : undefined
}

/** Returns a decoder; undefined if all processes are busy. */
function openDecoder(account: string): Decoder | undefined {
  if (decoders.size >= MAX_PROCESSES) {
    const idle = [...decoders].find(([, { isBusy }]) => !isBusy)
    if (!idle) return undefined
    discardDecoder(...idle)
  }
  const decoder: Decoder = {
    content: undefined,
    worker: new SupervisedWorker<DecoderMessage>({
      start: processStarter(start, { mayIdle: true, leadsGroup: true }),
    }),
    files: 0,
    isBusy: false,
  }
  function start(): ChildProcess {
    // An isolated process writes only its input.
    const fileBytes = isIsolated() ? INPUT_BYTES : limits.fileBytes
    const bounds = { limits: { ...limits, fileBytes }, input: undefined, folder: undefined }
    const child = startDecoder(bounds)
    decoder.content = child.stdio[CONTENT_DESCRIPTOR] as Writable
    // An error of the pipe is ignored: whatever breaks the pipe also ends the request.
    decoder.content.on('error', () => {})
    return child
  }
  decoders.set(account, decoder)
  return decoder
}

const isIsolated = () => findConfinement() === 'isolated'

function keepIdle(account: string, decoder: Decoder): void {
  decoders.delete(account)
  decoders.set(account, decoder)
  decoder.idle = setTimeout(() => discardDecoder(account, decoder), IDLE_MS).unref()
}

function discardDecoder(account: string, decoder: Decoder): void {
  clearTimeout(decoder.idle)
  if (decoders.get(account) === decoder) decoders.delete(account)
  void decoder.worker.close()
}

/** Checks a response: a hostile file may control the process. */
function isPlausible({ decoded }: ShortMedia): boolean {
  if (!decoded) return true
  const { samples, declaredSeconds, unreadSeconds, unreadTracks, channels } = decoded
  if (![declaredSeconds, unreadSeconds, unreadTracks].every(Number.isFinite)) return false
  const isShort = samples > 0 && samples <= MAX_SHORT_SECONDS * SAMPLE_RATE
  if (!isShort || channels.length === 0 || channels.length > MAX_CHANNELS) return false
  const length = Math.ceil((samples * 2) / 3) * 4
  return channels.every(({ pcm, sameAs }, channel) => {
    return pcm.length === length && (sameAs === null || (sameAs >= 0 && sameAs < channel))
  })
}
