import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { DecoderLimits } from './decoder-limits.ts'

/**
 * How far the system can confine a decoder: `files` allows no network and no writes except to the
 * output folder, `network` allows no network, `limits` only limits memory and time, `none` not even
 * these.
 */
export type Confinement = 'files' | 'network' | 'limits' | 'none'

/** A program to start, with its arguments. */
export type ProcessCommand = { file: string; args: string[] }

/** The limits of a decoder, and the folder that it writes to. */
export type Bounds = { limits: DecoderLimits; folder: string | undefined }

/** The shell finds `unshare` and `mount` of util-linux here; the decoder itself needs no path. */
const PATH = 'PATH=/usr/bin:/bin:/usr/sbin:/sbin'
/** File systems that hold no user files, and that the decoder and the shell may need. */
const PSEUDO =
  /^(proc|sysfs|devtmpfs|devpts|mqueue|cgroup2?|securityfs|debugfs|tracefs|bpf|pstore)$/
/** Each mount to make read-only adds a few milliseconds to every start. */
const MAX_MOUNTS = 24
/** A feature that takes longer to answer is considered missing. */
const TRIAL_MS = 5000

// A limit that the shell does not support is skipped: one shell has -d, another lacks it.
const LIMIT_SCRIPT = `
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

let known: Confinement | undefined

/**
 * Returns the strongest confinement that works here; determined once, by starting a program in
 * each.
 */
export function findConfinement(): Confinement {
  known ??= (['files', 'network', 'limits'] as const).find(works) ?? 'none'
  return known
}

function works(confinement: Confinement): boolean {
  if (process.platform === 'win32') return false
  const limits = { memoryBytes: 1e9, dataBytes: 1e9, cpuSeconds: 9, wallSeconds: 9, fileBytes: 0 }
  const bounds = { limits, folder: undefined }
  const { file, args } = confine({ file: '/bin/sh', args: ['-c', ':'] }, bounds, confinement)
  const options = { env: {}, timeout: TRIAL_MS, stdio: 'ignore' as const }
  return spawnSync(file, args, options).status === 0
}

/**
 * Returns the command that starts `command` with limits, and confined as far as the system supports
 * it. The program replaces the shell: it has the pid of the started process, and its exit status is
 * that of the whole.
 */
export function confine(
  command: ProcessCommand,
  { limits, folder }: Bounds,
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
  const inner = [...outerProgram(confinement, folder), ...program]
  return { file: '/bin/sh', args: [...limited, ...inner] }
}

function outerProgram(confinement: Confinement, folder: string | undefined): string[] {
  if (confinement === 'limits') return []
  const outer = ['env', PATH, ...withoutNetwork]
  const mounts = confinement === 'files' ? writableMounts() : []
  if (confinement === 'network' || mounts.length > MAX_MOUNTS) return outer
  const script = ['sh', '-c', READ_ONLY_SCRIPT, 'sh']
  return [...outer, '--mount', ...script, folder ?? '', `${mounts.length}`, ...mounts]
}

/** Returns the writable mounts; a folder may have been mounted since the last call. */
function writableMounts(): string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n')
  const places = lines.flatMap((line) => {
    const [, , , , place = '', options = ''] = line.split(' ')
    const [type = ''] = line.split(' - ')[1]?.split(' ') ?? []
    return options.split(',').includes('rw') && !PSEUDO.test(type) ? [place] : []
  })
  return [...new Set(places)].map((place) =>
    place.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8))),
  )
}
