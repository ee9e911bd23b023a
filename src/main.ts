import { runCommand } from './cli/commands.ts'
import { interruptOnSignals } from './cli/terminal/interrupt.ts'

const args = process.argv.slice(2)
const signal = interruptOnSignals()
// `steno transcribe … | head` closes stdout early; that is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A server prints its address once; whether that can be read is no reason to stop.
  if (args[0] === 'serve') return
  if (error.code === 'EPIPE') process.exit(0)
  const reason = error.code === 'ENOSPC' ? 'the disk is full' : error.message
  process.stderr.write(`Cannot write the results: ${reason}\n`)
  process.exit(1)
})
// The reader of stderr may exit first, as at Ctrl-C. The exit code still shows the result.
process.stderr.on('error', () => {})

const { env, stdin, stdout, stderr } = process
process.exitCode = await runCommand(args, { env, stdin, stdout, stderr, signal })
// An interrupted command exits at once, whatever is still running.
if (signal.aborted) process.exit()
// Input that is not read to its end, and the channel to bin/steno.mjs, would keep this process
// alive.
stdin.destroy()
if (process.connected) {
  // It says that the parent is gone, which here is no reason to stop anything.
  process.removeAllListeners('disconnect')
  process.disconnect()
}
