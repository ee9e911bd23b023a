import { statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join, parse, resolve } from 'node:path'
import { UsageError } from '../arguments.ts'
import { sanitize } from '../terminal/sanitize-terminal.ts'
import type { Format } from './formats.ts'
import type { Recording } from './recordings.ts'

/**
 * Returns the destination of each result: the path of a file, or undefined for stdout. `-o` is a
 * folder for several recordings, or when its name ends in a slash or is an existing folder.
 */
export function planOutputs(
  recordings: readonly Recording[],
  { output, format }: { output: string | undefined; format: Format },
): (string | undefined)[] {
  if (output === undefined) {
    if (recordings.length > 1 && (format === 'srt' || format === 'vtt')) {
      throw new UsageError(`Several ${format} files need a folder: add -o FOLDER/`)
    }
    return recordings.map(() => undefined)
  }
  if (recordings.length === 1 && !/[/\\]$/.test(output) && !isFolder(output)) return [output]
  const paths = recordings.map(({ name }) => join(output, `${parse(name).name}.${format}`))
  refuseClashes(recordings, paths)
  return paths
}

/** A file of a format beside the result of a recording. */
export type SideFile<F extends string> = { format: F; path: string }

/**
 * Returns where further files of a result go, one per format, for each recording: beside its
 * output, under that name; without an output beside the recording; and for a recording that is not
 * on this machine, in the current folder.
 */
export function planSideFiles<F extends string>(
  recordings: readonly Recording[],
  { outputs, formats }: { outputs: readonly (string | undefined)[]; formats: readonly F[] },
): SideFile<F>[][] {
  const planned = recordings.map((recording, i) => {
    const { dir, name } = parse(
      outputs[i] ?? (recording.kind === 'file' ? recording.path : recording.name),
    )
    return formats.map((format) => ({ format, path: join(dir, `${name}.${format}`) }))
  })
  const written = outputs.filter((path) => path !== undefined)
  refuseClashes(recordings, [...written, ...planned.flat().map(({ path }) => path)])
  return planned
}

/**
 * Refuses outputs that clash: two results in one file, or a result over a recording, would lose one
 * of them.
 */
function refuseClashes(recordings: readonly Recording[], paths: readonly string[]): void {
  const taken = new Set(recordings.flatMap((r) => (r.kind === 'file' ? resolve(r.path) : [])))
  for (const path of paths) {
    if (taken.has(resolve(path))) {
      throw new UsageError(`${sanitize(path)} would be written over another file`)
    }
    taken.add(resolve(path))
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/**
 * Creates the folders of all output files, so that a wrong path fails before the work and not after
 * it.
 */
export async function prepareOutputs(paths: readonly (string | undefined)[]): Promise<void> {
  const files = paths.filter((path) => path !== undefined)
  const taken = files.find(isFolder)
  if (taken !== undefined) {
    throw new UsageError(`Cannot write ${sanitize(taken)}: it is a folder`)
  }
  const folders = new Set(files.map((path) => resolve(path, '..')))
  for (const folder of folders) await mkdir(folder, { recursive: true })
}
