import type { ChildProcess } from 'node:child_process'
import type { Socket } from 'node:net'
import { type Transferable, Worker } from 'node:worker_threads'
import { type CpuUsage, cpuSecondsOf, isRunnable } from './cpu-time.ts'

/** A started process or thread. */
export type RunningWorker = {
  /** The id of a process; threads have none. */
  readonly pid: number | undefined
  /** Its processor use, which shows whether a busy machine starves it. */
  readonly cpu: CpuUsage
  /** Sends a message; only a thread transfers. A worker that has ended ignores it. */
  send(message: unknown, transfer?: readonly Transferable[]): void
  kill(): void
  /** Whether it keeps this process alive. A process does, unless it may idle. */
  setBusy(isBusy: boolean): void
}

/** How a worker ended: by an exit code or a signal, and the end of its stderr where it is piped. */
export type Exit = { code: number | null; signal: NodeJS.Signals | null; stderr: string }

/** What a worker reports. `onExit` is called once, and last. */
export type WorkerEvents<Message> = {
  onMessage(message: Message): void
  onError(error: Error): void
  onExit(exit: Exit): void
}

/** Starts a worker; its events come later. */
export type StartWorker = <Message>(events: WorkerEvents<Message>) => RunningWorker

/** Characters of stderr that are kept. */
const MAX_STDERR = 2000

/** Returns a starter of threads with at most `maxHeapMb` megabytes of JavaScript heap. */
export function threadStarter(
  entry: URL,
  { maxHeapMb, workerData }: { maxHeapMb: number; workerData?: unknown },
): StartWorker {
  return ({ onMessage, onError, onExit }) => {
    const resourceLimits = { maxOldGenerationSizeMb: maxHeapMb }
    const thread = new Worker(entry, { workerData, resourceLimits })
    thread.on('message', onMessage)
    thread.on('error', onError)
    thread.once('exit', (code) => onExit({ code, signal: null, stderr: '' }))
    thread.unref()
    return {
      pid: undefined,
      cpu: { read: () => threadSeconds(thread), isRunnable: () => false },
      send: (message, transfer = []) => thread.postMessage(message, transfer),
      kill: () => void thread.terminate(),
      setBusy: (isBusy) => (isBusy ? thread.ref() : thread.unref()),
    }
  }
}

/** Returns the processor time of a thread in seconds; undefined once it has ended. */
async function threadSeconds(thread: Worker): Promise<number | undefined> {
  try {
    const { user, system } = await thread.cpuUsage()
    return (user + system) / 1e6
  } catch {
    return undefined
  }
}

/**
 * Returns a starter of processes with an IPC channel, which `spawn` creates. With `mayIdle`, one
 * without a task does not keep this process alive. With `leadsGroup`, each leads a process group,
 * whose remaining processes are killed when it exits.
 */
export function processStarter(
  spawn: () => ChildProcess,
  { mayIdle = false, leadsGroup = false } = {},
): StartWorker {
  return <Message>({ onMessage, onError, onExit }: WorkerEvents<Message>) => {
    const child = spawn()
    let stderr = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr = (stderr + text).slice(-MAX_STDERR)
    })
    child.on('message', (message) => onMessage(message as Message))
    child.on('error', onError)
    if (leadsGroup) child.once('exit', () => killGroup(child.pid))
    // 'close' also follows a process that could not be started, 'exit' does not.
    child.once('close', (code, signal) => onExit({ code, signal, stderr }))
    const { pid } = child
    return {
      pid,
      cpu: {
        read: async () => (pid === undefined ? undefined : cpuSecondsOf(pid)),
        isRunnable: () => pid !== undefined && isRunnable(pid),
      },
      send: (message) => void child.send(message as object, () => {}),
      kill: () => void child.kill('SIGKILL'),
      setBusy: (isBusy) => mayIdle && keepAlive(child, isBusy),
    }
  }
}

/**
 * Kills the remaining processes of a group. `unshare --kill-child` requests that from the kernel
 * only after it has started the child: if it is killed before, the child survives and keeps the
 * streams open.
 */
function killGroup(leader: number | undefined): void {
  if (leader === undefined || process.platform === 'win32') return
  try {
    process.kill(-leader, 'SIGKILL')
  } catch {
    // Usually no process is left.
  }
}

function keepAlive(child: ChildProcess, isBusy: boolean): void {
  for (const handle of [child, child.channel, ...(child.stdio as (Socket | null)[])]) {
    if (isBusy) handle?.ref()
    else handle?.unref()
  }
}
