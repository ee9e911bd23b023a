import { type FileHandle, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../../errors.ts'
import { syncFolder } from '../objects/durable-file.ts'
import { type LogLine, readAt, readLog, writeAt } from '../objects/file-io.ts'
import type { Objects } from '../objects/objects.ts'
import type { Orphans } from '../objects/orphans.ts'
import { storageError, throwStorageError } from '../sqlite/storage-error.ts'
import { type AppendedSizes, createAppender } from './appender.ts'

/**
 * The sound and the log of one live session, in a folder of its own; both are only ever appended to.
 * What a call of `write` gave counts as a whole or not at all. A write that fails (a full disk) takes
 * those that were waiting behind it along, since their lines may build on it; later ones may work again.
 * After a `sync` that failed nothing works any more: nobody can tell what is on the disk.
 */
export type LiveFiles = {
  /** File that holds the sound, from byte `soundStart` on; before it is room for the header of the recording. */
  readonly soundPath: string
  readonly soundStart: number
  /** Bytes of sound written, and of the log. */
  readonly soundBytes: number
  readonly logBytes: number
  /**
   * Appends sound, then the lines of the log that tell of it. Resolves when both are written: a process
   * that is killed loses nothing of it. Calls keep their order; those that wait are joined into one
   * write. The bytes of `sound` must stay as they are until then.
   */
  write(sound: Uint8Array | undefined, lines: readonly string[]): Promise<void>
  /**
   * Resolves when all that was given to `write` before is on the disk; fails when one of these writes
   * failed since the last sync. Calls at the same time share a sync.
   */
  sync(): Promise<void>
  /** Sound from byte `from` up to byte `to`, which must have been written. */
  readSound(from: number, to: number): Promise<Uint8Array>
  /** All lines in order, some hundred at a time; sees what was given to `write` before the first is asked for. */
  readLines(): AsyncGenerator<string[]>
  /** Likewise those from byte `start` of the log on, where one begins, that are on the disk. */
  readStoredLines(start: number): AsyncGenerator<LogLine[]>
  /** Waits for what was given to `write`. */
  close(): Promise<void>
}

/** The header of a RIFF file with one format and one data chunk. */
const SOUND_START = 44

/**
 * Makes the folder of a new session. It is there whole or not at all, and its name is on the disk before
 * this resolves; a folder that has files already is an error.
 */
export async function createLiveFiles(folder: string): Promise<LiveFiles> {
  const parent = dirname(folder)
  const unfinished = `${folder}.new`
  try {
    if (await mkdir(parent, { recursive: true })) await syncFolder(dirname(parent))
    await rm(unfinished, { recursive: true, force: true })
    await mkdir(unfinished)
    for (const path of Object.values(pathsOf(unfinished))) await writeFile(path, '')
    await syncFolder(unfinished)
    await rename(unfinished, folder)
    await syncFolder(parent)
  } catch (error) {
    throw storageError(error)
  }
  return openLiveFiles(folder, { audioAfter: () => undefined })
}

/**
 * Opens what an earlier process left; fails with `file_not_found` when there is no such session. Drops
 * a torn last line, cuts the log at the first line that tells of more sound than there is (only a loss
 * of power does that), then cuts off sound that no line tells of. `soundAfter(line)` = bytes of sound
 * after that line; undefined when it tells of none. What is left is on the disk when this resolves.
 */
export async function openLiveFiles(
  folder: string,
  { audioAfter }: { audioAfter(line: string): number | undefined },
): Promise<LiveFiles> {
  const paths = pathsOf(folder)
  const handles: FileHandle[] = []
  try {
    for (const path of [paths.sound, paths.log]) handles.push(await open(path, 'r+'))
    const [sound, log] = handles as [FileHandle, FileHandle]
    const soundSize = Math.max(0, (await sound.stat()).size - SOUND_START)
    const told = await readTold(log, { audioAfter, soundSize })
    await cutTo(sound, SOUND_START + told.soundBytes)
    await cutTo(log, told.logBytes)
    if (told.logBytes > 0) for (const handle of handles) await handle.datasync()
    return liveFilesOf({ path: paths.sound, sound, log }, told)
  } catch (error) {
    for (const handle of handles) await handle.close()
    throw storageError(error)
  }
}

function liveFilesOf(
  { path, sound, log }: { path: string; sound: FileHandle; log: FileHandle },
  sizes: AppendedSizes,
): LiveFiles {
  const appender = createAppender({ sound, log, soundStart: SOUND_START }, sizes)
  return {
    soundPath: path,
    soundStart: SOUND_START,
    get soundBytes() {
      return appender.sizes.soundBytes
    },
    get logBytes() {
      return appender.sizes.logBytes
    },
    write: appender.write,
    sync: appender.sync,
    async readSound(from, to) {
      const { soundBytes } = appender.sizes
      if (from < 0 || to < from || to > soundBytes) {
        throw new RangeError(`bytes ${from} to ${to} of ${soundBytes}`)
      }
      const bytes = await readAt(sound, { from: SOUND_START + from, to: SOUND_START + to })
      if (bytes.length === to - from) return bytes
      throw new AppError('storage_unreadable', 'the sound of the session is cut short')
    },
    async *readLines() {
      await appender.settled()
      for await (const lines of readLog(log, { size: appender.sizes.logBytes })) {
        yield lines.map(({ text }) => text)
      }
    },
    readStoredLines: (start) => readLog(log, { start, size: appender.storedLogBytes }),
    async close() {
      await appender.close()
      await sound.close()
      await log.close()
    },
  }
}

function pathsOf(folder: string): { sound: string; log: string } {
  return { sound: join(folder, 'sound'), log: join(folder, 'log') }
}

/** How far the log can be believed, and how much sound it tells of. A loss of power leaves zeros, too. */
async function readTold(
  log: FileHandle,
  { audioAfter, soundSize }: { audioAfter(line: string): number | undefined; soundSize: number },
): Promise<AppendedSizes> {
  const told = { soundBytes: 0, logBytes: 0 }
  for await (const lines of readLog(log, { size: (await log.stat()).size })) {
    for (const { text, end } of lines) {
      const after = text.includes('\0') ? undefined : audioAfter(text)
      if (text.includes('\0') || (after ?? 0) > soundSize) return told
      if (after !== undefined) told.soundBytes = after
      told.logBytes = end
    }
  }
  return told
}

/** Takes back what lies beyond `size`, for good: what is written next must not have it behind it. */
async function cutTo(handle: FileHandle, size: number): Promise<void> {
  if ((await handle.stat()).size <= size) return
  await handle.truncate(size)
  await handle.datasync()
}

/**
 * Makes the sound a recording: writes `header` before it and the pad byte of RIFF behind an odd length,
 * syncs, and stores it as object `id`, without a copy where links are possible. Nothing may be written
 * afterwards. The folder stays until `removeLiveFiles`; to do it all again after a crash gives the same.
 */
export async function keepRecording(
  files: LiveFiles,
  objects: Objects,
  { id, header }: { id: string; header: Uint8Array },
): Promise<{ size: number }> {
  if (header.length !== files.soundStart) throw new RangeError(`a header of ${header.length} bytes`)
  await files.sync()
  const end = files.soundStart + files.soundBytes
  const size = end + (end % 2)
  try {
    const handle = await open(files.soundPath, 'r+')
    try {
      await writeAt(handle, [header], 0)
      await handle.truncate(end)
      await handle.truncate(size)
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw storageError(error)
  }
  await objects.link(id, files.soundPath)
  return { size }
}

/** Removes the folder of a session, which need not be there. */
export async function removeLiveFiles(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(throwStorageError)
}

/** The names of the folders of sessions in `parent`, which need not be there. */
export async function listLiveFiles(parent: string): Promise<string[]> {
  return readdir(parent).catch((error) => {
    if (error.code === 'ENOENT') return []
    throw storageError(error)
  })
}

/** The job of a session: `open` when it is to go on, `ended`, or `unknown`, as after an older database was restored. */
export type SessionFate = 'open' | 'ended' | 'unknown'

/**
 * Removes from `parent` the folders of sessions that have ended, and makes orphans of those whose sound
 * may be all that is left of them; without `orphans` these are removed too.
 */
export async function removeStaleLiveFiles(
  parent: string,
  fates: ReadonlyMap<string, SessionFate>,
  orphans?: Orphans | undefined,
): Promise<void> {
  for (const name of await listLiveFiles(parent)) {
    const fate = fates.get(name) ?? 'unknown'
    if (fate === 'open') continue
    const folder = join(parent, name)
    await (orphans && fate === 'unknown' ? orphans.addSession(folder) : removeLiveFiles(folder))
  }
}
