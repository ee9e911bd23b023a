import { createHash } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import type { Batch, RecognizedSegment } from '../asr/speech-engine.ts'

/** The segments recognized so far in the batches of one job, including by an earlier attempt. */
export type RecognitionCheckpoint = {
  find(batch: Batch): RecognizedSegment[] | undefined
  /** Resolves once the result of the batch is on disk. */
  append(batch: Batch, recognized: RecognizedSegment[]): Promise<void>
  close(): Promise<void>
}

type Line = { key: string; recognized: RecognizedSegment[] }

/**
 * Opens a file of one JSON line per batch. Truncates a last line that a crash left incomplete, so
 * that the next line is not appended to it.
 */
export async function openRecognitionCheckpoint(path: string): Promise<RecognitionCheckpoint> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  const known = new Map<string, RecognizedSegment[]>()
  for (const line of whole.split('\n')) {
    const { key, recognized } = parseLine(line)
    if (key && recognized) known.set(key, recognized)
  }
  const file = await open(path, 'a')
  await file.truncate(Buffer.byteLength(whole))
  let last = Promise.resolve()

  async function add(line: Line): Promise<void> {
    await file.appendFile(`${JSON.stringify(line)}\n`)
    await file.datasync()
    known.set(line.key, line.recognized)
  }

  return {
    find: (batch) => known.get(keyOf(batch)),
    append(batch, recognized) {
      // One line after another: batches may end at the same time, and their bytes must not mix.
      const added = last.then(() => add({ key: keyOf(batch), recognized }))
      last = added.catch(() => {})
      return added
    },
    async close() {
      await last
      await file.close()
    },
  }
}

/**
 * Returns an empty object for a line that a full disk or a power loss left incomplete: its batch is
 * recognized again. So is a batch of an older version, whose lines have no key: they do not say
 * which model wrote them.
 */
function parseLine(line: string): Partial<Line> {
  try {
    return (JSON.parse(line) as Partial<Line> | null) ?? {}
  } catch {
    return {}
  }
}

/**
 * Identifies a batch by its segments and by how they are recognized, so that words of another plan,
 * model, language or vocabulary are never used.
 */
function keyOf({ channel, segments, model, language, vocabulary }: Batch): string {
  const spans = segments.map(({ start, end }) => [start, end])
  const identity = JSON.stringify([channel, spans, model, language, vocabulary])
  return createHash('sha256').update(identity).digest('base64url')
}
