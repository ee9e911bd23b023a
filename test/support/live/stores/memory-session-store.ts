import type { SessionStore } from '../../../../src/storage/live/session-store.ts'
import type { LogLine } from '../../../../src/storage/objects/disk/file-io.ts'

/** What a session store in memory holds, for one store after the other. */
export type StoredSession = { audio: Buffer; lines: string[] }

/** A session store for tests; `stored` is what it holds. */
export type MemorySessionStore = SessionStore & { readonly stored: StoredSession }

/** Creates a session store in memory, or opens what an earlier one held. */
export function createMemorySessionStore(
  stored: StoredSession = { audio: Buffer.alloc(0), lines: [] },
): MemorySessionStore {
  let durableLines = stored.lines.length
  let isClosed = false
  const ended = () => Promise.reject(new Error('the session is closed'))
  const bytesOf = (lines: readonly string[]) => Buffer.byteLength(lines.join('\n')) + 1
  const logBytes = (lines: readonly string[]) => (lines.length === 0 ? 0 : bytesOf(lines))
  let nextSync: ReturnType<SessionStore['sync']> | undefined

  async function sync() {
    await Promise.resolve()
    nextSync = undefined
    durableLines = stored.lines.length
    return { audioBytes: stored.audio.length, logBytes: logBytes(stored.lines) }
  }

  return {
    stored,
    get audioBytes() {
      return stored.audio.length
    },
    get logBytes() {
      return logBytes(stored.lines)
    },
    write(audio, lines) {
      if (isClosed) return ended()
      if (lines.some((line) => line.includes('\n'))) throw new TypeError('a line with a line break')
      if (audio) stored.audio = Buffer.concat([stored.audio, audio])
      stored.lines.push(...lines)
      return Promise.resolve()
    },
    sync() {
      if (isClosed) return ended()
      nextSync ??= sync()
      return nextSync
    },
    async readAudio(from, to) {
      const { length } = stored.audio
      if (from < 0 || to < from || to > length) {
        throw new RangeError(`bytes ${from} to ${to} of ${length}`)
      }
      return stored.audio.subarray(from, to)
    },
    async *readLines() {
      for (let at = 0; at < stored.lines.length; at += 100) yield stored.lines.slice(at, at + 100)
    },
    async *readDurableLines(start) {
      let end = 0
      const read: LogLine[] = []
      for (const text of stored.lines.slice(0, durableLines)) {
        const from = end
        end += Buffer.byteLength(text) + 1
        if (from >= start) read.push({ text, end })
      }
      if (read.length > 0) yield read
    },
    async close() {
      await nextSync
      isClosed = true
    },
    async delete() {
      Object.assign(stored, { audio: Buffer.alloc(0), lines: [] })
    },
  }
}
