import { fork } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import type { Socket } from 'node:net'
import { bareEnvironment } from '../../../audio/decoder/sandbox/bare-environment.ts'
import type { Log } from '../../../observability/log.ts'
import { findPrepacked, prepackedName, prepackedRoot } from './prepacked-models.ts'

/**
 * Prepacks the bundled models in a process of the lowest priority, unless they are prepacked or the
 * folder for them is read-only; then calls `onDone`. Processes that load a model after that share
 * its memory, and take less time on some processors. Recognition works without prepacking, so a
 * failure is only logged. The process takes seconds and may outlive the server.
 */
export function prepackInBackground(modelsFolder: string, log: Log, onDone: () => void): void {
  if (!isNeeded(modelsFolder)) return
  const child = fork(new URL('prepack-process.ts', import.meta.url), [modelsFolder], {
    env: bareEnvironment(),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  let problem = ''
  const stderr = child.stderr as Socket
  stderr.setEncoding('utf8').on('data', (text: string) => {
    problem = (problem + text).slice(-2000)
  })
  child.on('error', (error) => log.warn({ err: error }, 'cannot prepack the models'))
  child.on('exit', (code, signal) => {
    // Code 0 without models means that the disk has too little space.
    if (code === 0 && findPrepacked(modelsFolder)) onDone()
    else if (code !== 0 && !isStop(signal))
      log.warn({ problem: problem || signal }, 'cannot prepack the models')
  })
  child.unref()
  child.channel?.unref()
  stderr.unref()
}

/** Whether the process was asked to stop: Ctrl-C reaches all processes of a terminal. */
function isStop(signal: NodeJS.Signals | null): boolean {
  return signal === 'SIGINT' || signal === 'SIGTERM' || signal === 'SIGHUP'
}

function isNeeded(modelsFolder: string): boolean {
  try {
    if (prepackedName(modelsFolder) === undefined || findPrepacked(modelsFolder)) return false
    const root = prepackedRoot(modelsFolder)
    accessSync(existsSync(root) ? root : modelsFolder, constants.W_OK)
    return true
  } catch {
    return false
  }
}
