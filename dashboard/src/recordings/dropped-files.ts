import { isMediaName } from '../../../src/audio/containers/media-names.ts'

/** Returns the recordings among the files of a folder, which may contain other files. */
export function recordingsIn(files: readonly File[]): File[] {
  return files.filter(({ name }) => isMediaName(name))
}

/** Returns the files that were dropped, and the recordings in dropped folders. */
export async function filesIn(transfer: DataTransfer): Promise<File[]> {
  // All entries are read first, because the browser discards them after the event.
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  if (entries.length === 0) return [...transfer.files]
  const found = await Promise.all(
    entries.map(async (entry) => {
      const files = await readEntry(entry)
      return entry.isFile ? files : recordingsIn(files)
    }),
  )
  return found.flat()
}

async function readEntry(entry: FileSystemEntry): Promise<File[]> {
  if (entry.isFile) {
    return [
      await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail)),
    ]
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  const files: File[] = []
  // A folder returns its entries in several parts.
  for (;;) {
    const entries = await new Promise<FileSystemEntry[]>((done, fail) =>
      reader.readEntries(done, fail),
    )
    if (entries.length === 0) return files
    for (const child of entries) files.push(...(await readEntry(child)))
  }
}
