import { runCommand } from './cli/commands.ts'

/**
 * A terminal delivers Ctrl-C to every process of the group, and `npm` and `bin/steno.mjs` pass it on
 * once more: signals this close together are one wish to stop.
 */
const SAME_SIGNAL_MS = 500

const stop = new AbortController()
let stoppedAt = 0

function interrupt(): void {
  const now = performance.now()
  if (stoppedAt === 0) {
    stoppedAt = now
    stop.abort()
  } else if (now - stoppedAt > SAME_SIGNAL_MS) {
    process.exit(130)
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, interrupt)
// Started by bin/steno.mjs on an older Node: when that process is gone, nobody is left to stop this one.
process.once('disconnect', interrupt)
// `steno transcribe … | head` closes stdout early; that is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1)
})

const { env, stdin, stdout, stderr } = process
const terminal = { env, stdin, stdout, stderr, signal: stop.signal }
process.exitCode = await runCommand(process.argv.slice(2), terminal)
// An interrupted command leaves at once, whatever it still has going on.
if (stop.signal.aborted) process.exit()
// Input that nobody reads to its end, and the channel to bin/steno.mjs, would keep this process alive.
stdin.destroy()
if (process.connected) process.disconnect()
