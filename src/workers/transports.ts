import type { ChildProcess } from 'node:child_process'
import { type Transferable, Worker } from 'node:worker_threads'

/** A started process or thread. */
export type RunningWorker = {
  /** The id of a process; threads have none. */
  readonly pid: number | undefined
  /** Sends a message; only a thread transfers. One that has ended reports that by its exit. */
  send(message: unknown, transfer?: readonly Transferable[]): void
  kill(): void
  /** Whether a thread keeps this process alive. A process always does. */
  setBusy(isBusy: boolean): void
}

/** How a worker ended: the signal or exit code, and the last lines of a piped stderr. */
export type Exit = { cause: string; lastWords: string }

/** What a worker reports. `onExit` is called once, and last. */
export type WorkerEvents = {
  onMessage(message: unknown): void
  onError(error: Error): void
  onExit(exit: Exit): void
}

/** Starts a worker; its events come later. */
export type StartWorker = (events: WorkerEvents) => RunningWorker

/** Characters of stderr that are kept. */
const MAX_LAST_WORDS = 2000

/** Workers that are threads with at most `maxHeapMb` megabytes of JavaScript heap. */
export function threads(
  entry: URL,
  { maxHeapMb, workerData }: { maxHeapMb: number; workerData?: unknown },
): StartWorker {
  return ({ onMessage, onError, onExit }) => {
    const resourceLimits = { maxOldGenerationSizeMb: maxHeapMb }
    const thread = new Worker(entry, { workerData, resourceLimits })
    thread.on('message', onMessage)
    thread.on('error', onError)
    thread.once('exit', (code) => onExit({ cause: `code ${code}`, lastWords: '' }))
    thread.unref()
    return {
      pid: undefined,
      send: (message, transfer = []) => thread.postMessage(message, transfer),
      kill: () => void thread.terminate(),
      setBusy: (isBusy) => (isBusy ? thread.ref() : thread.unref()),
    }
  }
}

/** Workers that are processes with an IPC channel, as `spawn` starts them. */
export function processes(spawn: () => ChildProcess): StartWorker {
  return ({ onMessage, onError, onExit }) => {
    const child = spawn()
    let lastWords = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      lastWords = (lastWords + text).slice(-MAX_LAST_WORDS)
    })
    child.on('message', onMessage)
    child.on('error', onError)
    // 'close' also follows a process that could not be started, 'exit' does not.
    child.once('close', (code, signal) => onExit({ cause: signal ?? `code ${code}`, lastWords }))
    return {
      pid: child.pid,
      send: (message) => void child.send(message as object, () => {}),
      kill: () => void child.kill('SIGKILL'),
      setBusy: () => {},
    }
  }
}
