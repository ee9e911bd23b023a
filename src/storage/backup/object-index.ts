import { appendFile, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { objectPath } from '../objects/disk/disk-objects.ts'
import { writeDurably } from '../objects/disk/durable-file.ts'
import { isObjectId } from '../objects/object-store.ts'
import { type Content, isContent } from './backup-files.ts'
import type { BackupFolder } from './backup-folder.ts'

/** The index of the objects in a folder of backups, so that no object is copied or read again. */
export type ObjectIndex = {
  /** Returns the size and fingerprint of an object; undefined if it is missing or incomplete. */
  find(id: string): Promise<Content | undefined>
  /** Records a copied object. If the process is killed before, the object is copied again. */
  add(id: string, content: Content): Promise<void>
  /** Removes the entries of all other objects. */
  keep(ids: ReadonlySet<string>): Promise<void>
  /** Removes the entries of these objects, so that the next backup copies them again. */
  remove(ids: ReadonlySet<string>): Promise<void>
}

const FILE = 'copied.jsonl'

/** Returns the path of an object in a folder of backups. */
export function backupObjectPath(path: string, id: string): string {
  return objectPath(join(path, 'objects'), id)
}

/** Reads the index of a folder of backups. */
export async function openObjectIndex({ path, encryption }: BackupFolder): Promise<ObjectIndex> {
  const file = join(path, FILE)
  const text = await readFile(file, 'utf8').catch(() => '')
  const contentById = new Map<string, Content>()
  for (const line of text.split('\n')) {
    const entry = parseIndexLine(line)
    if (entry) contentById.set(entry.id, entry.content)
  }
  // A killed process may have left an incomplete line.
  if (text !== '' && !text.endsWith('\n')) await appendFile(file, '\n')

  async function removeWhere(isRemoved: (id: string) => boolean): Promise<void> {
    for (const id of contentById.keys()) if (isRemoved(id)) contentById.delete(id)
    const lines = [...contentById].map(([id, content]) => formatLine(id, content))
    await writeDurably(file, lines.join(''))
  }

  return {
    async find(id) {
      const content = contentById.get(id)
      if (!content) return undefined
      const fileStat = await stat(backupObjectPath(path, id)).catch(() => undefined)
      return fileStat?.size === encryption.storedSize(content.size) ? content : undefined
    },
    async add(id, content) {
      contentById.set(id, content)
      await appendFile(file, formatLine(id, content))
    },
    keep: (ids) => removeWhere((id) => !ids.has(id)),
    remove: (ids) => removeWhere((id) => ids.has(id)),
  }
}

function formatLine(id: string, { size, digest }: Content): string {
  return `${JSON.stringify([id, size, digest])}\n`
}

function parseIndexLine(line: string): { id: string; content: Content } | undefined {
  try {
    const [id, size, digest] = JSON.parse(line) as [string, number, string]
    const content = { size, digest }
    return isObjectId(id) && isContent(content) ? { id, content } : undefined
  } catch {
    return undefined
  }
}
