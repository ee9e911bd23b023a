import { fork } from 'node:child_process'
import { AppError, fromPlain } from '../errors.ts'
import type {
  DecodeRequest,
  DecoderMessage,
  DecoderResult,
  ProbeRequest,
} from './decoder-messages.ts'

/** How a decoder process is watched. */
export type RunOptions = {
  signal: AbortSignal
  onProgress?: ((fraction: number) => void) | undefined
  /** Seconds without a sign of life after which a decoder is taken to hang. */
  patience?: number
}

const entry = new URL('./decoder-process.ts', import.meta.url)

/** A healthy decoder reports four times a second; a disk may stall for much longer than that. */
const PATIENCE = 60

/** Signals by which native code ends itself; others come from outside and say nothing about the file. */
const crashes = new Set(['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGTRAP', 'SIGSYS'])

/**
 * Runs one request in a decoder process of its own, which ends with it. The process is killed when
 * `signal` aborts or no sign of life comes, and ends by itself when this one dies. A native crash is the
 * file's fault: `media_undecodable`.
 */
export function runDecoder<Request extends ProbeRequest | DecodeRequest>(
  request: Request,
  { signal, onProgress, patience = PATIENCE }: RunOptions,
): Promise<DecoderResult<Request>> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<DecoderResult<Request>>()
  // A group of its own: a Ctrl-C meant for the server must not look like a broken file.
  const child = fork(entry, {
    detached: true,
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let end: Exclude<DecoderMessage, { type: 'progress' }> | undefined
  let lastWords = ''
  let silence = 0

  // Counted in ticks, not by the clock: after a suspend of the machine both start anew.
  const watchdog = setInterval(() => {
    if (++silence >= patience) child.kill('SIGKILL')
  }, 1000)
  const abort = () => child.kill('SIGKILL')
  signal.addEventListener('abort', abort, { once: true })

  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-2000)
  })
  child.on('message', (message: DecoderMessage) => {
    silence = 0
    if (message.type === 'progress') onProgress?.(message.fraction)
    else if (message.type === 'done' || message.type === 'failed') end = message
  })
  child.on('error', (cause) => {
    reject(new AppError('engine_failed', 'the decoder could not be started', { cause }))
  })
  child.on('close', (code, killer) => {
    clearInterval(watchdog)
    signal.removeEventListener('abort', abort)
    if (signal.aborted) reject(signal.reason)
    else if (end?.type === 'done') resolve(end.result as DecoderResult<Request>)
    else if (end) reject(fromPlain(end.error))
    else if (silence >= patience) {
      reject(new AppError('media_undecodable', `the decoder hung for ${patience} s`))
    } else reject(earlyEnd(killer ?? `exit code ${code}`, lastWords))
  })
  child.send(request, () => {}) // a failure to send shows as an early end
  return promise
}

function earlyEnd(how: string, lastWords: string): AppError {
  const options = lastWords ? { cause: new Error(lastWords) } : {}
  return crashes.has(how)
    ? new AppError('media_undecodable', `the decoder crashed (${how})`, options)
    : new AppError('engine_failed', `the decoder was ended (${how})`, options)
}
