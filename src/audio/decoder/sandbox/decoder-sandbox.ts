import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import type { DecoderLimits } from '../decoder-limits.ts'
import { isolatingScript, type VisibleFiles } from './isolated-root.ts'

/**
 * How far a decoder is confined: `isolated` hides the network, all other processes, and all files
 * except its recording, its output folder and the program; `files` allows no network and no writes
 * except to the output folder; `network` allows no network; `limits` only limits memory and time;
 * `none` does not even do that.
 */
export type Confinement = 'isolated' | 'files' | 'network' | 'limits' | 'none'

/** A program to start, with its arguments. */
export type ProcessCommand = { file: string; args: string[] }

/** The limits of a decoder, and the files that it may use. */
export type SandboxBounds = VisibleFiles & { limits: DecoderLimits }

/**
 * The path on which the shell finds `unshare` and `mount` of util-linux; the decoder needs none.
 */
const PATH = 'PATH=/usr/bin:/bin:/usr/sbin:/sbin'
/** File systems without user files that the decoder and the shell may need. */
const PSEUDO_FILE_SYSTEMS =
  /^(proc|sysfs|devtmpfs|devpts|mqueue|cgroup2?|securityfs|debugfs|tracefs|bpf|pstore)$/
/** Maximum mounts to make read-only; each adds some milliseconds to every start. */
const MAX_MOUNTS = 24
/** A feature that is not confirmed within this time is considered missing. */
const TRIAL_TIMEOUT_MS = 5000

// A limit that the shell does not support is skipped: not every shell has -d. The out-of-memory
// killer of the system is to kill the decoder before the server.
const LIMIT_SCRIPT = `
{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null
ulimit -c 0 2>/dev/null
ulimit -n 256 2>/dev/null
ulimit -d "$1" 2>/dev/null
ulimit -f "$2" 2>/dev/null
ulimit -S -t "$3" 2>/dev/null
shift 3
exec "$@"`

// The output folder first becomes a mount of its own, so it stays writable when the rest turns
// read-only. A file system may have been unmounted since it was listed.
const READ_ONLY_SCRIPT = `
folder=$1
count=$2
shift 2
if [ -n "$folder" ]; then mount --bind "$folder" "$folder" || exit 125; fi
while [ "$count" -gt 0 ]; do
  mount -o remount,bind,ro "$1" 2>/dev/null || ! mountpoint -q "$1" || exit 125
  shift
  count=$((count - 1))
done
exec "$@"`

const withoutNetwork = ['unshare', '--user', '--map-root-user', '--net', '--ipc']

let chosenConfinement: Confinement | undefined

/**
 * Returns the strongest confinement that works here. It is determined once, by starting a program
 * in each.
 */
export function findConfinement(): Confinement {
  chosenConfinement ??= candidateConfinements().find(works) ?? 'none'
  return chosenConfinement
}

/**
 * Returns the confinements that a platform may support: only Linux has namespaces, and Windows has
 * no shell.
 */
export function candidateConfinements(platform: NodeJS.Platform = process.platform): Confinement[] {
  if (platform === 'linux') return ['isolated', 'files', 'network', 'limits']
  return platform === 'win32' ? [] : ['limits']
}

/** A command in which Node checks that it can read our code. */
const readOwnCode = {
  file: process.execPath,
  args: ['-e', `fs.accessSync(${JSON.stringify(import.meta.filename)})`],
}

function works(confinement: Confinement): boolean {
  const limits = { memoryBytes: 1e9, dataBytes: 1e9, cpuSeconds: 9, wallSeconds: 9, fileBytes: 0 }
  const bounds = { limits, input: undefined, folder: undefined }
  const isIsolated = confinement === 'isolated'
  // The memory of a descendant process can only be found with this file.
  if (isIsolated && !existsSync('/proc/thread-self/children')) return false
  const program = isIsolated ? readOwnCode : { file: '/bin/sh', args: ['-c', ':'] }
  const { file, args } = confine(program, bounds, confinement)
  const options = { env: {}, timeout: TRIAL_TIMEOUT_MS, stdio: 'ignore' as const }
  return spawnSync(file, args, options).status === 0
}

/**
 * Returns the command that starts `command` with limits, confined as far as the system supports.
 * The program replaces the shell: it has the pid of the started process, and its exit status. An
 * isolated program is a descendant of that process and ends with it; the exit code shows which
 * signal ended it, see `signalOf`.
 */
export function confine(
  command: ProcessCommand,
  { limits, ...visible }: SandboxBounds,
  confinement: Confinement = findConfinement(),
): ProcessCommand {
  if (confinement === 'none') return command
  const program = [command.file, ...command.args]
  // Units as in POSIX: kilobytes of memory, blocks of 512 bytes.
  const numbers = [
    Math.ceil(limits.dataBytes / 1024),
    Math.ceil(limits.fileBytes / 512),
    limits.cpuSeconds,
  ].map(String)
  const limited = ['-c', LIMIT_SCRIPT, 'sh', ...numbers]
  const inner = [...outerProgram(confinement, visible), ...program]
  return { file: '/bin/sh', args: [...limited, ...inner] }
}

function outerProgram(confinement: Confinement, visible: VisibleFiles): string[] {
  if (confinement === 'limits') return []
  const outer = ['env', PATH, ...withoutNetwork]
  if (confinement === 'isolated') {
    const script = ['sh', '-c', isolatingScript(visible), 'sh']
    return [...outer, '--mount', '--pid', '--fork', '--kill-child', ...script]
  }
  const mounts = confinement === 'files' ? writableMounts() : []
  if (confinement === 'network' || mounts.length > MAX_MOUNTS) return outer
  const script = ['sh', '-c', READ_ONLY_SCRIPT, 'sh']
  return [...outer, '--mount', ...script, visible.folder ?? '', `${mounts.length}`, ...mounts]
}

/** A shell exits with this number plus that of the signal that ended its program. */
const SIGNALED = 128

/** Returns the signal that ended the program of a shell, from the exit code of the shell. */
export function signalOf(code: number | null): NodeJS.Signals | undefined {
  const signals = Object.entries(constants.signals) as [NodeJS.Signals, number][]
  return signals.find(([, number]) => number + SIGNALED === code)?.[0]
}

/** Returns the writable mounts; a folder may have been mounted since the last call. */
function writableMounts(): string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n')
  const mountPoints = lines.flatMap((line) => {
    const [, , , , mountPoint = '', options = ''] = line.split(' ')
    const [type = ''] = line.split(' - ')[1]?.split(' ') ?? []
    return options.split(',').includes('rw') && !PSEUDO_FILE_SYSTEMS.test(type) ? [mountPoint] : []
  })
  return [...new Set(mountPoints)].map((mountPoint) =>
    mountPoint.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8))),
  )
}
