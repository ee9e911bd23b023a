import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import type { Log } from './log.ts'

/**
 * The interval of the checks, which take microseconds. Shorter shortages go unnoticed, but clients
 * retry after those.
 */
const CHECK_MS = 5000
/** The shortest time between two log lines: at the limit, descriptors run out again and again. */
const REPEAT_MS = 60_000

/** For tests. */
type Options = { open?: () => void; now?: () => number }

/**
 * Returns a check that logs a lack of file descriptors, at most once a minute. Nothing else reports
 * it: without a descriptor, the runtime closes new connections without an event.
 */
export function createDescriptorCheck(
  log: Log,
  { open = openFile, now = performance.now.bind(performance) }: Options = {},
): () => void {
  let next = Number.NEGATIVE_INFINITY
  return () => {
    try {
      open()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if ((code !== 'EMFILE' && code !== 'ENFILE') || now() < next) return
      next = now() + REPEAT_MS
      const remedy = code === 'EMFILE' ? 'raise ulimit -n' : 'raise the limit of the system'
      log.error({ code, remedy }, 'no file descriptors left, new connections are closed')
    }
  }
}

/** Watches the file descriptors of this process until the watch is closed. */
export function watchDescriptors(log: Log): Disposable {
  const timer = setInterval(createDescriptorCheck(log), CHECK_MS).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

function openFile(): void {
  closeSync(openSync(devNull, 'r'))
}
