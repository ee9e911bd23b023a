import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** A child process that takes commands and sends typed messages over IPC. */
export type IpcProcess<Order, Report extends { kind: string }> = {
  process: ChildProcess
  tell(order: Order): void
  /** Returns the next message of a kind; rejects when the process ends without it. */
  receive<Kind extends Report['kind']>(kind: Kind): Promise<Extract<Report, { kind: Kind }>>
  stop(): Promise<void>
}

/** Starts a process; its output is discarded. */
export function startIpcProcess<Order extends object | string, Report extends { kind: string }>(
  script: URL,
  env: Record<string, string> = {},
): IpcProcess<Order, Report> {
  const child = fork(script, {
    env: { ...process.env, ...env },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  const reports: Report[] = []
  const listeners = new Set<() => void>()
  const notify = () => listeners.forEach((look) => void look())
  let isOver = false
  const exited = once(child, 'exit').then(() => {
    isOver = true
    notify()
  })
  child.on('message', (report: Report) => {
    reports.push(report)
    notify()
  })
  return {
    process: child,
    tell: (order) => void child.send(order),
    receive(kind) {
      return new Promise((resolve, reject) => {
        function look(): void {
          const at = reports.findIndex((report) => report.kind === kind)
          if (at >= 0) resolve(reports.splice(at, 1)[0] as Extract<Report, { kind: typeof kind }>)
          else if (isOver) reject(new Error(`${script} ended before it printed "${kind}"`))
          else return
          listeners.delete(look)
        }
        listeners.add(look)
        look()
      })
    },
    async stop() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
