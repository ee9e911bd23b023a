import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isObjectId } from '../../objects/object-store.ts'
import type { BackupFolder } from '../backup-folder.ts'
import { listSnapshots, readManifest, snapshotFolder } from '../manifest.ts'
import type { ObjectIndex } from '../object-index.ts'

/**
 * Removes all but the newest snapshots, then the objects that none of those refers to. Fails, and
 * removes no object, if one of their manifests is damaged.
 */
export async function removeOldSnapshots(
  backup: BackupFolder,
  index: ObjectIndex,
  { keep }: { keep: number },
): Promise<void> {
  const { path } = backup
  const all = await listSnapshots(path)
  const keptSnapshots = all.slice(-keep)
  for (const name of all.slice(0, -keep)) {
    await rm(snapshotFolder(path, name), { recursive: true, force: true })
  }
  const referencedIds = new Set<string>()
  for (const name of keptSnapshots) {
    for (const { name: id } of (await readManifest(backup, name)).objects) referencedIds.add(id)
  }
  const folder = join(path, 'objects')
  let removed = 0
  for (const part of await readdir(folder).catch(() => [])) {
    for (const file of await readdir(join(folder, part))) {
      if (isObjectId(file) && referencedIds.has(file)) continue
      await rm(join(folder, part, file), { force: true })
      removed++
    }
  }
  if (removed > 0) await index.keep(referencedIds)
}
