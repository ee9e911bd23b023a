import {
  type BigIntStats,
  constants,
  createReadStream,
  type Dirent,
  existsSync,
  readdirSync,
  type Stats,
  statSync,
} from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import type { Readable } from 'node:stream'
import { isMediaName } from '../../audio/containers/media-names.ts'
import { decodePart } from '../../net/decode-part.ts'
import { UsageError } from '../terminal/arguments.ts'
import { explainReading } from '../terminal/file-errors.ts'
import { sanitize } from '../terminal/sanitize.ts'

/** A recording to transcribe: a local file, a URL that the server fetches, or standard input. */
export type Recording =
  | { kind: 'file'; name: string; path: string }
  | { kind: 'url'; name: string; url: string }
  | { kind: 'stdin'; name: string }

/** Reads one argument of `steno transcribe`, without opening the file. */
export function readRecording(argument: string): Recording {
  if (argument === '-') return { kind: 'stdin', name: 'stdin' }
  if (/^https?:\/\//i.test(argument) && URL.canParse(argument)) {
    return { kind: 'url', name: nameOfUrl(argument), url: argument }
  }
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(argument)) {
    const reason = URL.canParse(argument)
      ? 'only http and https addresses are fetched'
      : 'it is not a valid address'
    throw new UsageError(`Cannot read ${sanitize(argument)}: ${reason}`)
  }
  return { kind: 'file', name: basename(argument), path: argument }
}

/**
 * Replaces each folder among the arguments by its recordings, sorted by name; subfolders are
 * ignored. Throws a `UsageError` for a folder without recordings.
 */
export function expandFolders(args: readonly string[]): string[] {
  return args.flatMap((argument) => {
    const folder = findPath(argument)
    if (!statIfPossible(folder)?.isDirectory()) return [argument]
    const names = readFolder(folder, argument)
      .filter((entry) => !entry.isDirectory() && isMediaName(entry.name))
      .map(({ name }) => name)
    if (names.length > 0) return names.sort().map((name) => join(argument, name))
    throw new UsageError(`Cannot find a recording in the folder ${sanitize(argument)}`)
  })
}

function readFolder(folder: string | Buffer, shown: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (cause) {
    throw new UsageError(`Cannot read ${sanitize(shown)}: ${explainReading(cause)}`, { cause })
  }
}

/** Returns the state of a file or folder; undefined if there is none or it may not be read. */
export function statIfPossible(path: string | Buffer): BigIntStats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false, bigint: true })
  } catch {
    return undefined
  }
}

/** Returns the last part of the path as a file name; the host if the path is empty. */
function nameOfUrl(text: string): string {
  const { pathname, hostname } = new URL(text)
  const last = pathname.split('/').findLast((part) => part !== '')
  return last === undefined ? hostname : decodePart(last).replace(/[/\\\0]/g, '_')
}

/** An opened recording; `size` is unknown for standard input. */
type OpenRecording = { body: AsyncIterable<Uint8Array>; size: number | undefined }

/** Opens a local recording. Throws an error that explains why it cannot be opened. */
export async function openRecording(
  recording: Exclude<Recording, { kind: 'url' }>,
  stdin: Readable,
): Promise<OpenRecording> {
  if (recording.kind === 'stdin') {
    // The part that was sent before a refusal is lost, so that a retry would send an incomplete
    // recording.
    if (stdin.readableDidRead) throw new Error('Cannot send standard input again')
    return { body: stdin, size: undefined }
  }
  const { size } = await requireFile(recording.path)
  return { body: readFrom(findPath(recording.path)), size }
}

/** Yields the content of a file, which it opens at the first read. */
async function* readFrom(path: string | Buffer): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path)
}

/**
 * Returns the error of opening a local file; undefined if it can be opened, and for other
 * recordings.
 */
export async function findRecordingProblem(recording: Recording): Promise<unknown> {
  if (recording.kind !== 'file') return undefined
  return requireFile(recording.path).then(
    () => undefined,
    (error: unknown) => error,
  )
}

/**
 * Returns the size of a recording in bytes; infinity if it is unknown, 0 if the file cannot be
 * found.
 */
export function recordingBytes(recording: Recording): number {
  if (recording.kind !== 'file') return Number.POSITIVE_INFINITY
  return Number(statIfPossible(recording.path)?.size ?? 0)
}

/** Returns the state of a local file; rejects with an error that says why it cannot be opened. */
export async function requireFile(path: string): Promise<Stats> {
  const found = findPath(path)
  try {
    const stats = await stat(found)
    if (!stats.isDirectory()) {
      await access(found, constants.R_OK)
      return stats
    }
  } catch (cause) {
    throw new Error(`Cannot open ${sanitize(path)}: ${explainReading(cause)}`, { cause })
  }
  throw new Error(`Cannot open ${sanitize(path)}: it is a folder`)
}

/**
 * Returns the path by which a file or folder can be opened. Node decodes arguments and names as
 * UTF-8, and other bytes become U+FFFD: each part of the path is the one in its folder whose name
 * becomes the same. Throws an error if there are several.
 */
export function findPath(path: string): string | Buffer {
  if (!path.includes('\ufffd') || existsSync(path)) return path
  const folder = findPath(dirname(path))
  if (!existsSync(folder)) return path
  const names = readdirSync(folder, { encoding: 'buffer' })
  const [name, other] = names.filter((name) => String(name) === basename(path))
  if (name === undefined) return path
  if (other === undefined) return Buffer.concat([Buffer.from(folder), Buffer.from(sep), name])
  const problem = 'its name is not UTF-8, and neither is that of another file that looks the same'
  throw new Error(`Cannot open ${sanitize(path)}: ${problem}; rename one of them`)
}

/** Yields the bytes and reports the fraction that was read; null if the size is unknown. */
export async function* countBytes(
  { body, size }: OpenRecording,
  onProgress: (fraction: number | null) => void,
): AsyncGenerator<Uint8Array> {
  let readBytes = 0
  for await (const bytes of body) {
    readBytes += bytes.length
    onProgress(size ? Math.min(1, readBytes / size) : null)
    yield bytes
  }
}
