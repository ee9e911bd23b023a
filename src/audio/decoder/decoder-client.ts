import { type ChildProcess, spawn } from 'node:child_process'
import { resolve as fullPath } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AppError, fromPlain } from '../../errors.ts'
import { processStarter, type RunningWorker } from '../../workers/start-worker.ts'
import { type DecoderLimits, decoderLimitsOf } from './decoder-limits.ts'
import type {
  DecodeRequest,
  DecoderMessage,
  DecoderResult,
  ProbeRequest,
} from './decoder-messages.ts'
import { fillModuleCache } from './module-cache.ts'
import { bareEnvironment } from './sandbox/bare-environment.ts'
import { confine, type SandboxBounds, signalOf } from './sandbox/decoder-sandbox.ts'
import { watchMemory } from './sandbox/memory-watch.ts'

/** Options for running and monitoring a decoder process. */
export type DecoderOptions = {
  signal: AbortSignal
  onProgress?: ((fraction: number) => void) | undefined
  /** Seconds without a message after which a decoder is considered hung. */
  timeout?: number
  /** Overrides the limits of the request. */
  limits?: Partial<DecoderLimits>
}

const entry = fileURLToPath(new URL('./decoder-process.ts', import.meta.url))

/**
 * The default timeout in seconds: a decoder reports four times a second, but a disk may stall for
 * much longer.
 */
const TIMEOUT = 60

/**
 * The signals of a crash in native code, which the file causes; other signals come from outside.
 */
const crashSignals = new Set([
  'SIGSEGV',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGILL',
  'SIGTRAP',
  'SIGSYS',
])

/**
 * Runs one request in a decoder process of its own, which ends with it. The process is killed when
 * `signal` aborts, when it sends no message until the timeout, or when it exceeds its limits; it
 * exits by itself when this process dies. A native crash and an exceeded limit are attributed to
 * the file: `media_undecodable`.
 */
export function runDecoder<Request extends ProbeRequest | DecodeRequest>(
  originalRequest: Request,
  { signal, onProgress, timeout = TIMEOUT, ...options }: DecoderOptions,
): Promise<DecoderResult<Request>> {
  signal.throwIfAborted()
  const request = withFullPaths(originalRequest)
  const { promise, resolve, reject } = Promise.withResolvers<DecoderResult<Request>>()
  const limits = { ...decoderLimitsOf(request), ...options.limits }
  let end: Exclude<DecoderMessage, { type: 'progress' }> | undefined
  const folder = request.task === 'decode' ? request.folder : undefined
  const bounds = { limits, input: request.file, folder }
  const decoder = processStarter(() => startDecoder(bounds), { leadsGroup: true })({
    onMessage(message: DecoderMessage) {
      watch.recordHeartbeat()
      if (message.type === 'progress') onProgress?.(message.fraction)
      else end = message
    },
    onError(cause) {
      reject(new AppError('engine_failed', 'the decoder could not be started', { cause }))
    },
    onExit({ code, signal: killer, stderr }) {
      watch.close()
      signal.removeEventListener('abort', decoder.kill)
      if (signal.aborted) return reject(signal.reason)
      if (end?.type === 'done') return resolve(end.result as DecoderResult<Request>)
      if (end) return reject(fromPlain(end.error))
      const cause = killer ?? signalOf(code) ?? `exit code ${code}`
      const fault = watch.faultOf(cause)
      reject(fault ? new AppError('media_undecodable', fault) : unexpectedEnd(cause, stderr))
    },
  })
  const watch = watchDecoder(decoder, { limits, timeout })
  signal.addEventListener('abort', decoder.kill, { once: true })
  decoder.send(request)
  return promise
}

/** Makes paths absolute, because a decoder may have another working directory. */
function withFullPaths<Request extends ProbeRequest | DecodeRequest>(request: Request): Request {
  const file = fullPath(request.file)
  if (request.task === 'probe') return { ...request, file }
  return { ...request, file, folder: fullPath(request.folder) }
}

/** Whether the first decoder has been started. */
let fillsCache = false

/**
 * Starts a decoder process with the strongest confinement that the system supports. A decoder
 * without `input` in its bounds receives the content of its files through a pipe.
 */
export function startDecoder(bounds: SandboxBounds): ChildProcess {
  const args = ['--disable-warning=ExperimentalWarning', entry]
  if (!fillsCache) void fillModuleCache()
  fillsCache = true
  const command = confine({ file: process.execPath, args }, bounds)
  return spawn(command.file, command.args, {
    // Its own process group, so that Ctrl-C in the terminal of the server does not look like a bad
    // file.
    detached: true,
    env: bareEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', bounds.input === undefined ? 'pipe' : 'ignore'],
  })
}

type DecoderWatch = {
  recordHeartbeat(): void
  /**
   * Returns the fault of the file if it caused the end of the process with `cause`; otherwise
   * undefined.
   */
  faultOf(cause: string): string | undefined
  close(): void
}

/** Kills a decoder that hangs or exceeds its limits, and records the reason. */
function watchDecoder(
  decoder: RunningWorker,
  { limits, timeout }: { limits: DecoderLimits; timeout: number },
): DecoderWatch {
  const { memoryBytes, cpuSeconds, wallSeconds } = limits
  let [silentSeconds, ageSeconds] = [0, 0]
  let fault: string | undefined
  const kill = (reason: string) => {
    fault ??= reason
    decoder.kill()
  }
  const megabytes = Math.round(memoryBytes / 1024 / 1024)
  const tooMuchMemory = `the decoder needed more than ${megabytes} MB of memory`
  const onExceeded = () => kill(tooMuchMemory)
  const memory = watchMemory(decoder.pid, { limitBytes: memoryBytes, onExceeded })
  // Counts ticks instead of reading the clock, so that a system suspend does not count.
  const watchdog = setInterval(() => {
    if (++silentSeconds >= timeout) kill(`the decoder hung for ${timeout} s`)
    else if (++ageSeconds >= wallSeconds) kill(`the decoder took more than ${wallSeconds} s`)
  }, 1000)
  return {
    recordHeartbeat: () => {
      silentSeconds = 0
    },
    faultOf(cause) {
      if (fault) return fault
      if (cause === 'SIGXCPU') return `the decoder worked for more than ${cpuSeconds} s`
      if (cause === 'SIGXFSZ') return 'the decoder wrote more than the longest recording holds'
      // The system ran out of memory, and the decoder used a large part of it.
      if (cause === 'SIGKILL' && memory.peakBytes > memoryBytes / 2) return tooMuchMemory
      return undefined
    },
    close: () => {
      clearInterval(watchdog)
      memory.close()
    },
  }
}

function unexpectedEnd(cause: string, stderr: string): AppError {
  const options = stderr ? { cause: new Error(stderr) } : {}
  return crashSignals.has(cause)
    ? new AppError('media_undecodable', `the decoder crashed (${cause})`, options)
    : new AppError('engine_failed', `the decoder was killed (${cause})`, options)
}
