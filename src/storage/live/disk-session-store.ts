import { type FileHandle, mkdir, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AppError } from '../../errors.ts'
import { storageError, throwStorageError } from '../data-folder/storage-error.ts'
import { syncFolder } from '../objects/disk/durable-file.ts'
import { type LogLine, readAt, readLogLines, writeAt } from '../objects/disk/file-io.ts'
import type { ObjectStore } from '../objects/object-store.ts'
import type { Orphans } from '../objects/orphans/orphans.ts'
import { SessionAppender } from './session-appender.ts'
import type { SessionSizes, SessionStore } from './session-store.ts'

/** A session store in its own folder: one file for the audio, and one for the log. */
export type DiskSessionStore = SessionStore & {
  /**
   * The file that holds the audio, from byte `audioStart` on. The bytes before that are reserved
   * for the header of the recording.
   */
  readonly audioPath: string
  readonly audioStart: number
  /** Reads the lines from byte `start` of the log, where a line must begin, up to byte `size`. */
  readWrittenLines(part: { start: number; size: number }): AsyncGenerator<LogLine[]>
}

/** The header of a RIFF file with one format and one data chunk. */
const AUDIO_START = 44

/**
 * The suffix of a folder that is being created. A killed process may leave the folder; nothing in
 * it was acknowledged.
 */
const UNFINISHED = '.new'

/**
 * Creates the folder of a new session, completely or not at all. The folder is durable when this
 * resolves. Rejects if the folder already has files.
 */
export async function createDiskSessionStore(folder: string): Promise<DiskSessionStore> {
  const parent = dirname(folder)
  const unfinished = folder + UNFINISHED
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
  return openDiskSessionStore(folder, { audioAfter: () => undefined })
}

/**
 * Opens what an earlier process left; fails with `file_not_found` if there is no such session.
 * Removes an incomplete last line, truncates the log before the first line that reports more audio
 * than there is (only a power loss causes that), then removes audio that no line reports.
 * `audioAfter(line)` returns the bytes of audio after that line; undefined if the line reports
 * none. Everything that remains is on disk when this resolves.
 */
export async function openDiskSessionStore(
  folder: string,
  { audioAfter }: { audioAfter(line: string): number | undefined },
): Promise<DiskSessionStore> {
  const paths = pathsOf(folder)
  const handles: FileHandle[] = []
  try {
    for (const path of [paths.audio, paths.log]) handles.push(await open(path, 'r+'))
    const [audio, log] = handles as [FileHandle, FileHandle]
    const audioSize = Math.max(0, (await audio.stat()).size - AUDIO_START)
    const sizes = await readValidSizes(log, { audioAfter, audioSize })
    await truncateTo(audio, AUDIO_START + sizes.audioBytes)
    await truncateTo(log, sizes.logBytes)
    if (sizes.logBytes > 0) for (const handle of handles) await handle.datasync()
    return diskSessionStore({ folder, audio, log }, sizes)
  } catch (error) {
    for (const handle of handles) await handle.close()
    throw storageError(error)
  }
}

function diskSessionStore(
  { folder, audio, log }: { folder: string; audio: FileHandle; log: FileHandle },
  sizes: SessionSizes,
): DiskSessionStore {
  const appender = new SessionAppender({ audio, log, audioStart: AUDIO_START }, sizes)
  return {
    audioPath: pathsOf(folder).audio,
    audioStart: AUDIO_START,
    get audioBytes() {
      return appender.sizes.audioBytes
    },
    get logBytes() {
      return appender.sizes.logBytes
    },
    write: (audio, lines) => appender.write(audio, lines),
    sync: () => appender.sync(),
    async readAudio(from, to) {
      const { audioBytes } = appender.sizes
      if (from < 0 || to < from || to > audioBytes) {
        throw new RangeError(`bytes ${from} to ${to} of ${audioBytes}`)
      }
      const bytes = await readAt(audio, { from: AUDIO_START + from, to: AUDIO_START + to })
      if (bytes.length === to - from) return bytes
      throw new AppError('storage_unreadable', 'the audio of the session is truncated')
    },
    async *readLines() {
      await appender.settled()
      for await (const lines of readLogLines(log, { size: appender.sizes.logBytes })) {
        yield lines.map(({ text }) => text)
      }
    },
    readDurableLines: (start) => readLogLines(log, { start, size: appender.durableLogBytes }),
    readWrittenLines: (part) => readLogLines(log, part),
    async close() {
      await appender.close()
      await audio.close()
      await log.close()
    },
    delete: () => removeDiskSessionStore(folder),
  }
}

function pathsOf(folder: string): { audio: string; log: string } {
  return { audio: join(folder, 'sound'), log: join(folder, 'log') }
}

/**
 * Returns the sizes up to which the log is valid, and the audio that it reports is there. After a
 * power loss, the log may also end in zeros.
 */
async function readValidSizes(
  log: FileHandle,
  { audioAfter, audioSize }: { audioAfter(line: string): number | undefined; audioSize: number },
): Promise<SessionSizes> {
  const sizes = { audioBytes: 0, logBytes: 0 }
  for await (const lines of readLogLines(log, { size: (await log.stat()).size })) {
    for (const { text, end } of lines) {
      const after = text.includes('\0') ? undefined : audioAfter(text)
      if (text.includes('\0') || (after ?? 0) > audioSize) return sizes
      if (after !== undefined) sizes.audioBytes = after
      sizes.logBytes = end
    }
  }
  return sizes
}

/** Truncates the file to `size`, durably, so that no old bytes can follow later writes. */
async function truncateTo(handle: FileHandle, size: number): Promise<void> {
  if ((await handle.stat()).size <= size) return
  await handle.truncate(size)
  await handle.datasync()
}

/**
 * Turns the audio into a recording: writes `header` before it and the RIFF pad byte after an odd
 * length, syncs, and stores it as object `id`, without a copy where links are possible. Nothing may
 * be written afterwards. The folder stays until `removeDiskSessionStore`; repeating it all after a
 * crash gives the same result.
 */
export async function storeRecording(
  store: DiskSessionStore,
  objects: ObjectStore,
  { id, epoch, header }: { id: string; epoch?: number | undefined; header: Uint8Array },
): Promise<{ size: number }> {
  if (header.length !== store.audioStart) throw new RangeError(`a header of ${header.length} bytes`)
  const { audioBytes } = await store.sync()
  const end = store.audioStart + audioBytes
  const size = end + (end % 2)
  try {
    const handle = await open(store.audioPath, 'r+')
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
  await objects.adopt(id, store.audioPath, { epoch })
  return { size }
}

/** Removes the folder of a session, if it exists. */
export async function removeDiskSessionStore(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(throwStorageError)
}

/** Returns the names of the session folders in `parent`, which may be missing. */
export async function listSessionFolders(parent: string): Promise<string[]> {
  return readdir(parent).catch((error) => {
    if (error.code === 'ENOENT') return []
    throw storageError(error)
  })
}

/** The job of a session: `open`, `ended`, or `unknown`, as after an older database was restored. */
export type SessionStatus = 'open' | 'ended' | 'unknown'

/**
 * Removes the folders of ended sessions from `parent`. A folder that may have the only audio of a
 * session becomes an orphan or, without `orphans`, is removed, too.
 */
export async function removeStaleSessions(
  parent: string,
  statuses: ReadonlyMap<string, SessionStatus>,
  orphans?: Orphans | undefined,
): Promise<void> {
  for (const name of await listSessionFolders(parent)) {
    const status = statuses.get(name) ?? 'unknown'
    if (status === 'open') continue
    const folder = join(parent, name)
    const isKept = orphans && status === 'unknown' && !name.endsWith(UNFINISHED)
    await (isKept ? orphans.addSession(folder) : removeDiskSessionStore(folder))
  }
}
