import { readProgramVersion } from '../config/version.ts'
import { UsageError } from './terminal/arguments.ts'
import { explainFailure } from './terminal/file-errors.ts'
import { sanitize, sanitizeLines } from './terminal/sanitize.ts'
import type { Command, Terminal } from './terminal/terminal.ts'

type CommandEntry = { summary: string; load(): Promise<Command> }

/**
 * The commands. Each is loaded when it is called, because `doctor` must run even if the modules of
 * the server do not load.
 */
const commands: Record<string, CommandEntry> = {
  serve: {
    summary: 'run the server',
    load: async () => (await import('./server/serve.ts')).serveCommand,
  },
  transcribe: {
    summary: 'turn recordings into text; needs no running server',
    load: async () => (await import('./transcribe/transcribe.ts')).transcribeCommand,
  },
  live: {
    summary: 'transcribe live audio: microphone, standard input, or a file at real-time pace',
    load: async () => (await import('./live/live.ts')).liveCommand,
  },
  jobs: {
    summary: "list, show, cancel and delete a server's jobs, and retry their add-ons",
    load: async () => (await import('./jobs/jobs.ts')).jobsCommand,
  },
  search: {
    summary: "find what was said in a server's recordings",
    load: async () => (await import('./jobs/search.ts')).searchCommand,
  },
  keys: {
    summary: 'list, create and revoke the API keys of a data folder',
    load: async () => (await import('./accounts/keys.ts')).keysCommand,
  },
  webhooks: {
    summary: 'manage webhooks and their signing secrets',
    load: async () => (await import('./webhooks/webhooks.ts')).webhooksCommand,
  },
  deliveries: {
    summary: 'list deliveries to callbacks and webhooks, and resend them',
    load: async () => (await import('./webhooks/deliveries.ts')).deliveriesCommand,
  },
  usage: {
    summary: 'show what an account used (jobs, audio, tokens) and its quotas',
    load: async () => (await import('./accounts/usage.ts')).usageCommand,
  },
  audit: {
    summary: 'list who created keys and deleted jobs, and when servers started',
    load: async () => (await import('./accounts/audit.ts')).auditCommand,
  },
  models: {
    summary: 'list, download, import, check and remove models',
    load: async () => (await import('./models/models.ts')).modelsCommand,
  },
  setup: {
    summary: 'recommend models for this machine and your languages, and download them',
    load: async () => (await import('./operations/setup.ts')).setupCommand,
  },
  nodes: {
    summary: 'list the servers that share a database',
    load: async () => (await import('./operations/nodes.ts')).nodesCommand,
  },
  store: {
    summary: 'move a data folder into PostgreSQL and S3-compatible storage, or encrypt it',
    load: async () => (await import('./operations/store.ts')).storeCommand,
  },
  backup: {
    summary: 'back up a data folder, even while a server runs, and check backups',
    load: async () => (await import('./operations/backup.ts')).backupCommand,
  },
  restore: {
    summary: 'restore a data folder from a backup',
    load: async () => (await import('./operations/restore.ts')).restoreCommand,
  },
  bench: {
    summary: 'measure how many live sessions a server can run in real time',
    load: async () => (await import('./bench/bench.ts')).benchCommand,
  },
  doctor: {
    summary: 'check this installation and report what is missing',
    load: async () => (await import('./operations/doctor/doctor.ts')).doctorCommand,
  },
}

/**
 * Runs `steno …args` and resolves to its exit code: 0 done, 1 failed, 2 wrong usage, 130
 * interrupted.
 */
export async function runCommand(args: readonly string[], terminal: Terminal): Promise<number> {
  const { stdout, stderr, signal } = terminal
  const [name, ...rest] = args
  if (name === undefined) {
    stderr.write(programHelp())
    return 2
  }
  if (name === 'help' && rest[0] !== undefined) return runCommand([rest[0], '--help'], terminal)
  if (name === '--help' || name === '-h' || name === 'help') {
    stdout.write(programHelp())
    return 0
  }
  if (name === '--version' || name === '-v') {
    stdout.write(`steno ${readProgramVersion()}, Node ${process.versions.node}\n`)
    return 0
  }
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!entry) {
    const kind = name.startsWith('-') ? 'option' : 'command'
    stderr.write(`steno: unknown ${kind} '${sanitize(name)}'\n\n${programHelp()}`)
    return 2
  }
  const command = await entry.load()
  if (asksForHelp(rest)) {
    stdout.write(command.help)
    return 0
  }
  try {
    return await command.run(rest, terminal)
  } catch (error) {
    if (signal.aborted) return 130
    for (const line of sanitizeLines(explainFailure(error)).split('\n'))
      stderr.write(`steno ${name}: ${line}\n`)
    if (!(error instanceof UsageError)) return 1
    stderr.write(`See 'steno ${name} --help'\n`)
    return 2
  }
}

/**
 * Returns whether the arguments request help, which overrides all others. Arguments after `--` are
 * file names.
 */
function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return (end < 0 ? args : args.slice(0, end)).some((arg) => arg === '--help' || arg === '-h')
}

function programHelp(): string {
  const rows = Object.entries(commands).map(([name, { summary }]) => {
    return `  ${name.padEnd(12)} ${summary}`
  })
  return `Steno turns speech into text on your own machine.

Usage: steno COMMAND [options]

${rows.join('\n')}

'steno COMMAND --help' explains a command, 'steno --version' prints the version.
Exit codes: 0 done, 1 failed, 2 wrong usage or settings, 130 interrupted.
`
}
