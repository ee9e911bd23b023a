import { write, writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

/** Maximum characters that wait for a reader which does not read, such as a pager. */
const MAX_WAITING = 16 * 1024 * 1024
/** How long a pipe that is full and does not block may take to empty. */
const RETRY_MS = 100
const STDERR = 2

let waiting = ''
let isWriting = false

/**
 * Writes lines to stderr without waiting for their reader. Lines that cannot be written, as on a
 * full disk, are lost, and the process continues. The destination of pino throws the first such
 * error, and retries forever when the process ends.
 */
export const stderrLines: DestinationStream & { flushSync(): void } = {
  write(line) {
    if (waiting.length < MAX_WAITING) waiting += line
    if (!isWriting) writeWaiting()
  },
  flushSync() {
    const rest = waiting
    waiting = ''
    try {
      writeSync(STDERR, rest)
    } catch {}
  },
}
process.on('exit', stderrLines.flushSync)

function writeWaiting(): void {
  isWriting = waiting !== ''
  if (isWriting) writeBytes(Buffer.from(waiting))
  waiting = ''
}

function writeBytes(bytes: Buffer): void {
  write(STDERR, bytes, (error, count) => {
    if (error?.code === 'EAGAIN') setTimeout(writeBytes, RETRY_MS, bytes)
    else if (!error && count < bytes.length) writeBytes(bytes.subarray(count))
    else writeWaiting()
  })
}
