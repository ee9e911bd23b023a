import { connectServer } from '../client/server-connection.ts'
import { readServer, serverHelp, serverOptions } from '../client/server-url.ts'
import { openLiveAudio } from '../live/live-audio.ts'
import { SAMPLE } from '../server/start-message.ts'
import { parseArguments, parseNumberOption, UsageError } from '../terminal/arguments.ts'
import { createProgressDisplay } from '../terminal/progress-display.ts'
import type { Command, Terminal } from '../terminal/terminal.ts'
import { LIMITS, type LiveLoad, measureLiveLoad } from './live-load.ts'

const help = `Usage: steno bench live [FILE] [options]

Measures how many live sessions of constant speech a server runs in real time. The command streams a
recording (by default the sample that ships with Steno) in a loop, at real-time pace, to more and more
sessions at once, until the server refuses one or is late. Without a running server the command
starts a private one. Nothing else should run on the machine.

  --sessions N   only this number of sessions; may be repeated
  --seconds N    how long each number of sessions is measured; default 30
  --no-partials  request final text only
  --json         print a JSON object per line
${serverHelp}
A server is late when an acknowledgment takes more than ${LIMITS.ack} ms (99 %), a first partial more than
${LIMITS.firstPartial} ms after speech begins, or a final more than ${LIMITS.finalAlone} ms after it ends, with several
sessions ${LIMITS.finalTogether} ms (95 %). The times of finals include the 300 ms of silence that end an utterance.
The exit code is 1 if not even one session was in time.

  steno bench live
  steno bench live meeting.mp3 --sessions 8 --seconds 60
`

const options = {
  sessions: { type: 'string', multiple: true },
  seconds: { type: 'string' },
  'no-partials': { type: 'boolean' },
  json: { type: 'boolean' },
  ...serverOptions,
} as const

/** The numbers of sessions that are measured in turn, until one is too many. */
const STEPS = [1, 2, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128]

/** `steno bench`: measures a server as its clients see it. */
export const benchCommand: Command = {
  help,
  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, options)
    const [subject, path = SAMPLE, ...extra] = positionals
    if (subject !== 'live') throw new UsageError("name what to measure: 'live'")
    if (extra.length > 0) throw new UsageError('name one recording at most')
    const counts = (values.sessions ?? []).map((text) => {
      return parseNumberOption(text, { name: 'sessions', fallback: 1, min: 1 })
    })
    const seconds = parseNumberOption(values.seconds, { name: 'seconds', fallback: 30, min: 1 })
    const server = readServer(values, terminal)
    const progress = createProgressDisplay(terminal.stderr)
    terminal.signal.addEventListener('abort', progress.clear, { once: true })
    await using audio = await openLiveAudio({ kind: 'file', path, isFast: false }, terminal)
    await using connected = await connectServer(server, { terminal, progress, live: true })
    const { client } = connected
    const wantsPartials = values['no-partials'] !== true
    const show = values.json ? showJson : showRow
    if (!values.json) terminal.stdout.write(HEADINGS)
    let max = 0
    for (const sessions of counts.length > 0 ? counts : STEPS) {
      progress.show('steno', { stage: `streaming ${sessions} at once, for ${seconds} s` })
      const options = { sessions, seconds, wantsPartials, signal: terminal.signal }
      const load = await measureLiveLoad({ audio, client }, options)
      progress.end('steno')
      terminal.signal.throwIfAborted()
      show(load, terminal)
      if (load.isInTime) max = Math.max(max, sessions)
      if (counts.length === 0 && !load.isInTime) break
    }
    if (!values.json) terminal.stdout.write(conclusion(max))
    return max > 0 ? 0 : 1
  },
}

const WIDTHS = [8, 14, 21, 14]
const HEADINGS = columns(['sessions', 'acks, 99 %', 'first partials, 95 %', 'finals, 95 %'])

function showRow(load: LiveLoad, { stdout }: Terminal): void {
  const { sessions, ackMs, firstPartialMs, finalMs, isInTime, refusal } = load
  const cells = [String(sessions), ...[ackMs, firstPartialMs, finalMs].map(inMilliseconds)]
  const outcome = refusal === undefined ? (isInTime ? 'in time' : 'late') : `refused: ${refusal}`
  stdout.write(columns([...cells, outcome]))
}

function showJson(load: LiveLoad, { stdout }: Terminal): void {
  stdout.write(`${JSON.stringify(load)}\n`)
}

function columns(cells: readonly string[]): string {
  return `${cells.map((cell, i) => cell.padEnd(WIDTHS[i] ?? 0)).join('  ')}`.trimEnd().concat('\n')
}

function inMilliseconds(value: number | undefined): string {
  return value === undefined ? '-' : `${Math.round(value)} ms`
}

function conclusion(max: number): string {
  if (max === 0) return 'Not even one session was in time.\n'
  return max === 1
    ? 'One session of continuous speech was in time.\n'
    : `${max} sessions of continuous speech at once were in time.\n`
}
