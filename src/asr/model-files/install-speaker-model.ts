import { existsSync } from 'node:fs'
import { access, constants, copyFile, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { hashFile } from '../../models/files/hash-file.ts'
import { isWriteRefusal, makeFolder, refusedFolder } from '../../models/files/make-folder.ts'
import { syncPath } from '../../models/files/sync-path.ts'
import { withModelLock } from '../../models/install/lock.ts'
import {
  type InstalledSpeakerModel,
  readSpeakerModel,
  type SpeakerModelKind,
  type SpeakerModelRecord,
  speakerModelRecordFile,
  speakerModelsFolder,
} from '../../models/speaker-models.ts'
import { checkModels } from './model-check.ts'

/** The file to install as the model of a kind, and the name to give it. */
export type ModelInstallation = {
  kind: SpeakerModelKind
  source: string
  name: string
} & LockOptions

type LockOptions = {
  signal: AbortSignal
  /** Called when another process adds or removes a model of either kind: this one waits then. */
  onWait?: (() => void) | undefined
}

/**
 * Copies a file into the models folder as the model of its kind, replacing an earlier one, after a
 * separate process has run it together with the other kind. It does so completely or, when this
 * process is killed, not at all. Rejects with `Error` when the file is missing or is not a suitable
 * model; nothing has changed then.
 */
export async function installSpeakerModel(
  folder: string,
  addition: ModelInstallation,
): Promise<InstalledSpeakerModel> {
  const { source } = addition
  const sourceStat = await stat(source).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EACCES') throw unreadable(source, error)
    return undefined
  })
  if (!sourceStat?.isFile()) {
    const problem = sourceStat ? 'it is not a file' : 'the file does not exist'
    throw new Error(`Cannot add ${source}: ${problem}`)
  }
  await access(source, constants.R_OK).catch((cause) => {
    throw unreadable(source, cause)
  })
  await makeFolder(speakerModelsFolder(folder))
  return changeModels(folder, addition, () => replaceModel(folder, addition))
}

function unreadable(source: string, cause: unknown): Error {
  return new Error(`Cannot add ${source}: the file is not readable`, { cause })
}

/** Runs a change of the added models, one at a time: the kinds are tested together. */
async function changeModels<T>(
  folder: string,
  { signal, onWait }: LockOptions,
  change: () => Promise<T>,
): Promise<T> {
  try {
    return await withModelLock(folder, { id: 'added', signal, onWait }, change)
  } catch (error) {
    throw isWriteRefusal(error) ? refusedFolder(speakerModelsFolder(folder), error) : error
  }
}

async function replaceModel(
  folder: string,
  { kind, source, name, signal }: ModelInstallation,
): Promise<InstalledSpeakerModel> {
  const added = speakerModelsFolder(folder)
  await removeLeftovers(added)
  const copy = join(added, `.adding-${process.pid}`)
  try {
    await copyFile(source, copy)
    await tryWithOthers(folder, { kind, copy, signal }).catch((cause: Error) => {
      throw new Error(`Cannot add ${source} as ${kind}: ${cause.message}`, { cause })
    })
    const sha256 = await hashFile(copy)
    const file = `${kind}-${sha256.slice(0, 16)}.onnx`
    await syncPath(copy)
    await rename(copy, join(added, file))
    const { size: bytes } = await stat(join(added, file))
    const record: SpeakerModelRecord = { name, origin: basename(source), file, bytes, sha256 }
    const earlier = findEarlier(folder, kind)
    await writeRecord(speakerModelRecordFile(folder, kind), record)
    const path = join(added, file)
    if (earlier && earlier !== path) await rm(earlier, { force: true })
    return { kind, name, origin: record.origin, bytes, sha256, path }
  } finally {
    await rm(copy, { force: true })
  }
}

/** Removes the model of a kind, its record first; returns whether there was one. */
export async function removeSpeakerModel(
  folder: string,
  kind: SpeakerModelKind,
  options: LockOptions,
): Promise<boolean> {
  const record = speakerModelRecordFile(folder, kind)
  if (!existsSync(record)) return false
  return changeModels(folder, options, async () => {
    if (!existsSync(record)) return false
    const added = speakerModelsFolder(folder)
    await rm(record)
    await syncPath(added)
    for (const name of await readdir(added)) {
      if (name.startsWith(`${kind}-`) && name.endsWith('.onnx')) await rm(join(added, name))
    }
    return true
  })
}

/** Returns the path of the installed model of a kind, which a new one replaces. */
function findEarlier(folder: string, kind: SpeakerModelKind): string | undefined {
  try {
    return readSpeakerModel(folder, kind)?.path
  } catch {
    return undefined // The unreadable record is about to be replaced; a removal finds the file.
  }
}

/**
 * Checks the new model together with the installed model of the other kind, since both kinds form a
 * pipeline.
 */
async function tryWithOthers(
  folder: string,
  { kind, copy, signal }: { kind: SpeakerModelKind; copy: string; signal: AbortSignal },
): Promise<void> {
  const pathOf = (other: SpeakerModelKind) => {
    return kind === other ? copy : readSpeakerModel(folder, other)?.path
  }
  const embedding = pathOf('speaker-embedding')
  const segmentation = pathOf('speaker-segmentation')
  await checkModels(
    { ...(embedding && { embedding }), ...(segmentation && { segmentation }) },
    signal,
  )
}

async function writeRecord(path: string, record: SpeakerModelRecord): Promise<void> {
  const unfinished = `${path}.new`
  const file = await open(unfinished, 'w')
  try {
    await file.writeFile(`${JSON.stringify(record, null, 2)}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(unfinished, path)
  await syncPath(dirname(path))
}

/** Removes what killed commands left behind; running commands keep their files. */
async function removeLeftovers(added: string): Promise<void> {
  for (const name of await readdir(added)) {
    const [, pid] = /^\.adding-(\d+)$/.exec(name) ?? []
    if (pid && !isAlive(Number(pid))) await rm(join(added, name), { force: true })
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
