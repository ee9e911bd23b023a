import { existsSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { extname, join, parse, resolve } from 'node:path'
import { makeWithParents } from '../../models/files/make-folder.ts'
import { UsageError } from '../terminal/arguments.ts'
import { FILE_REASONS } from '../terminal/file-errors.ts'
import { sanitize } from '../terminal/sanitize.ts'
import type { Format } from './formats.ts'
import { findPath, type Recording, statIfPossible } from './input-files.ts'

/** Extensions of names that are files rather than folders. */
const NAMED_FILE = /^\.(?:txt|json|srt|vtt|text|md|html?|docx?)$/i

/**
 * Returns the destination of each result: the path of a file, or undefined for stdout. `-o` is a
 * folder for several recordings, or when its name ends in a slash or is an existing folder.
 */
export function planOutputs(
  recordings: readonly Recording[],
  { output, format }: { output: string | undefined; format: Format },
): (string | undefined)[] {
  if (output === undefined) {
    if (recordings.length > 1 && format !== 'txt' && format !== 'json') {
      throw new UsageError(`Several ${format} files need a folder: add -o FOLDER/`)
    }
    return recordings.map(() => undefined)
  }
  const isFile = !/[/\\]$/.test(output) && !isFolder(output)
  if (recordings.length === 1 && isFile) return [output]
  if (isFile && NAMED_FILE.test(extname(output))) {
    const hint = `name a folder, such as -o ${sanitize(output)}/`
    throw new UsageError(`-o ${sanitize(output)} is one file for ${recordings.length}: ${hint}`)
  }
  const names = recordings.map(({ name }) => join(output, name))
  const paths = distinctStems(names).map((stem) => `${stem}.${format}`)
  refuseClashes(recordings, paths)
  return paths
}

/**
 * Returns each path without its extension, or with it if another path would be the same, as in a
 * folder with `talk.wav` and `talk.mp3`.
 */
function distinctStems(paths: readonly string[]): string[] {
  const stems = paths.map((path) => join(parse(path).dir, parse(path).name))
  const byStem = Map.groupBy(stems, (stem) => stem)
  return stems.map((stem, i) => (byStem.get(stem)!.length > 1 ? paths[i]! : stem))
}

/** A file that is written beside the result of a recording; with a language, a translation. */
export type SideFile<F extends string> = { format: F; path: string; language?: string }

/**
 * The files beside the results: one in each of `formats`, and one in each of `translated` per
 * language.
 */
type SideFileOptions<F extends string> = {
  outputs: readonly (string | undefined)[]
  formats: readonly F[]
  languages?: readonly string[]
  /** The formats of translations; by default those of the other files. */
  translated?: readonly F[]
}

/**
 * Returns the paths of the side files of each recording, one per format and language: beside its
 * output, with the same name; without an output, beside the recording; for a recording that is not
 * a local file, in the current folder.
 */
export function planSideFiles<F extends string>(
  recordings: readonly Recording[],
  { outputs, formats, languages = [], translated = formats }: SideFileOptions<F>,
): SideFile<F>[][] {
  const hasFiles = formats.length + languages.length > 0
  const stems = distinctStems(
    recordings.map((recording, i) => {
      const output = outputs[i]
      if (output !== undefined || recording.kind !== 'file') return output ?? recording.name
      if (hasFiles) requireUtf8(recording.path, 'name the output with -o')
      return recording.path
    }),
  )
  const planned = stems.map((stem) => {
    const translations = languages.flatMap((language) => {
      return translated.map((format) => {
        return { format, path: `${stem}.${language}.${format}`, language }
      })
    })
    return [...formats.map((format) => ({ format, path: `${stem}.${format}` })), ...translations]
  })
  const written = outputs.filter((path) => path !== undefined)
  refuseClashes(recordings, [...written, ...planned.flat().map(({ path }) => path)])
  return planned
}

/**
 * Throws a `UsageError` if a file or folder has a name that is not UTF-8: Node would write U+FFFD
 * in the name of the new file.
 */
function requireUtf8(path: string, remedy: string): void {
  if (typeof findPath(path) === 'string') return
  throw new UsageError(
    `Cannot write with the name of ${sanitize(path)}: it is not UTF-8; ${remedy}`,
  )
}

/**
 * Throws a `UsageError` if two results have the same path, or a result would overwrite a recording.
 */
function refuseClashes(recordings: readonly Recording[], paths: readonly string[]): void {
  const sources = new Set(recordings.flatMap((r) => (r.kind === 'file' ? identityOf(r.path) : [])))
  const plannedFiles = new Set<string>()
  for (const path of paths) {
    const [file, shown] = [identityOf(path), sanitize(path)]
    if (sources.has(file)) throw new UsageError(`${shown} would overwrite a recording`)
    if (plannedFiles.has(file)) {
      throw new UsageError(`Two results would be written to ${shown}: run one with another -o`)
    }
    plannedFiles.add(file)
  }
}

/** Throws a `UsageError` if the output is the recording itself. */
export function refuseOverwriting(recording: string, output: string | undefined): void {
  if (output === undefined || identityOf(output) !== identityOf(recording)) return
  throw new UsageError(`${sanitize(output)} would overwrite a recording`)
}

/** Returns an id of the file at a path, since links may give it several paths. */
function identityOf(path: string): string {
  const fileStat = statIfPossible(path)
  return fileStat?.isFile() ? `${fileStat.dev}:${fileStat.ino}` : resolve(path)
}

function isFolder(path: string): boolean {
  return statIfPossible(path)?.isDirectory() ?? false
}

/**
 * Creates the folders of all output files and opens each file, so that a wrong path fails before
 * the transcription. Existing files are not changed.
 */
export async function prepareOutputs(paths: readonly (string | undefined)[]): Promise<void> {
  const files = paths.filter((path) => path !== undefined)
  const existingFolder = files.find(isFolder)
  if (existingFolder !== undefined) {
    throw new UsageError(`Cannot write ${sanitize(existingFolder)}: it is a folder`)
  }
  const folders = new Set(files.map((path) => resolve(path, '..')))
  for (const folder of folders) requireUtf8(folder, 'name another folder with -o')
  try {
    for (const folder of folders) await makeWithParents(folder)
  } catch (error) {
    const path = (error as NodeJS.ErrnoException).path ?? files[0]!
    throw new UsageError(explainWriting(path, error))
  }
  for (const file of files) await tryWriting(file)
}

async function tryWriting(file: string): Promise<void> {
  const isNew = !existsSync(file)
  try {
    await (await open(file, 'a')).close()
    if (isNew) await rm(file, { force: true })
  } catch (error) {
    throw new UsageError(explainWriting(file, error))
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ...FILE_REASONS,
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'your quota is used up',
  EFBIG: 'a file may not become that large (ulimit -f)',
  EEXIST: 'a part of the path is not a folder',
  ENOENT: 'its folder no longer exists',
}

/** Explains why a file cannot be written, in plain words where the reason is known. */
export function explainWriting(file: string, error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  return `Cannot write ${sanitize(file)}: ${REASONS[code] ?? sanitize(message)}`
}

/** Throws a `UsageError` if a file exists: subtitles may have been corrected by hand. */
export function refuseExisting(files: readonly SideFile<string>[]): void {
  const existingFile = files.find(({ path }) => existsSync(path))
  if (existingFile === undefined) return
  throw new UsageError(
    `${sanitize(existingFile.path)} already exists: add --overwrite to replace it`,
  )
}
