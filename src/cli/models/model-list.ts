import { readFile, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { embeddedModels } from '../../asr/models/embedded.ts'
import { findDamage, type InstallRecord } from '../../asr/models/install-embedded.ts'
import {
  checkFile,
  type FileDamage,
  type ModelKind,
  modelKinds,
  readInstalledModel,
} from '../../asr/models/installed-models.ts'
import { telephoneModelPath } from '../../asr/speakers/embedding/telephone-model.ts'

/** A model with its purpose, and whether its files are as installed. */
export type ListedModel = {
  name: string
  purpose: string
  bytes: number
  state: 'whole' | FileDamage | 'unreadable'
}

const embedded: Record<string, string> = {
  'moonshine-base': 'recognition of files and of finals',
  'moonshine-tiny': 'recognition of partials',
  'silero-vad': 'voice detection',
}

const purposes: Record<ModelKind, string> = {
  'speaker-embedding': 'speaker-embedding, added',
  'speaker-segmentation': 'speaker-segmentation, added',
}

/**
 * Lists all models that a server with this folder could use: embedded, built in, added. It reads
 * every byte.
 */
export async function listModels(folder: string): Promise<ListedModel[]> {
  return [...(await listInstalled(folder)), await builtIn(), ...(await listAdded(folder))]
}

async function listInstalled(folder: string): Promise<ListedModel[]> {
  const damaged = await findDamage(folder, { hashes: true })
  const { record } = embeddedModels(folder)
  const isRecorded = !damaged.includes(basename(record))
  const { files }: Pick<InstallRecord, 'files'> = isRecorded
    ? JSON.parse(await readFile(record, 'utf8'))
    : { files: {} }
  return Object.entries(embedded).map(([name, purpose]) => {
    const own = Object.entries(files).filter(([file]) => file.startsWith(name))
    const bytes = own.reduce((sum, [, file]) => sum + file.bytes, 0)
    const isDamaged = damaged.some((file) => file.startsWith(name))
    const state = own.length === 0 ? 'missing' : isDamaged ? 'damaged' : 'whole'
    return { name, purpose, bytes, state }
  })
}

async function builtIn(): Promise<ListedModel> {
  const found = await stat(telephoneModelPath).catch(() => undefined)
  const state = found ? 'whole' : 'missing'
  return {
    name: 'xvector-8k',
    purpose: 'speaker-embedding, built in',
    bytes: found?.size ?? 0,
    state,
  }
}

async function listAdded(folder: string): Promise<ListedModel[]> {
  const listed: ListedModel[] = []
  for (const kind of modelKinds) {
    const added = readRecord(folder, kind)
    if (added === 'unreadable') {
      listed.push({ name: kind, purpose: purposes[kind], bytes: 0, state: 'unreadable' })
    } else if (added) {
      const state = (await checkFile(added)) ?? 'whole'
      listed.push({ name: added.name, purpose: purposes[kind], bytes: added.bytes, state })
    }
  }
  return listed
}

function readRecord(folder: string, kind: ModelKind) {
  try {
    return readInstalledModel(folder, kind)
  } catch {
    return 'unreadable' // The list shows it, and `steno doctor` the remedy.
  }
}
