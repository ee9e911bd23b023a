import { createHash } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'

/** A file of one JSON line per value, each with a key. */
export type CheckpointFile<T> = {
  find(key: string): T | undefined
  /** Resolves once the line is on disk. */
  append(key: string, value: T): Promise<void>
  close(): Promise<void>
}

/**
 * Opens a file whose lines are JSON objects with `key`, and the value in the field named `field`.
 * Truncates a last line that a crash left incomplete, so that the next line is not appended to it.
 */
export async function openCheckpointFile<T>(
  path: string,
  field: string,
): Promise<CheckpointFile<T>> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const completeLines = text.slice(0, text.lastIndexOf('\n') + 1)
  const entriesByKey = new Map<string, T>()
  for (const line of completeLines.split('\n')) {
    const { key, [field]: value } = parseLine(line)
    if (typeof key === 'string' && value !== undefined) entriesByKey.set(key, value as T)
  }
  const file = await open(path, 'a')
  await file.truncate(Buffer.byteLength(completeLines))
  let lastWrite = Promise.resolve()

  async function add(key: string, value: T): Promise<void> {
    await file.appendFile(`${JSON.stringify({ key, [field]: value })}\n`)
    await file.datasync()
    entriesByKey.set(key, value)
  }

  return {
    find: (key) => entriesByKey.get(key),
    append(key, value) {
      // Lines are written one after another: concurrent work may end at the same time, and its
      // bytes must not mix.
      const added = lastWrite.then(() => add(key, value))
      lastWrite = added.catch(() => {})
      return added
    },
    async close() {
      await lastWrite
      await file.close()
    },
  }
}

/** Returns the key of a value: a hash of its JSON text. */
export function hashOfJson(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('base64url')
}

/**
 * Parses a line; returns an empty object for a line that a full disk or a power loss left
 * incomplete. Its work is done again, as is that of a line without a key, which an older version
 * wrote.
 */
function parseLine(line: string): Record<string, unknown> {
  try {
    return (JSON.parse(line) as Record<string, unknown> | null) ?? {}
  } catch {
    return {}
  }
}
