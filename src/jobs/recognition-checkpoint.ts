import { open, readFile } from 'node:fs/promises'
import type { RecognizedSegment, Segment } from '../asr/speech-engine.ts'

/** The segments recognized so far in the batches of one job, including by an earlier attempt. */
export type RecognitionCheckpoint = {
  find(channel: number, batch: readonly Segment[]): RecognizedSegment[] | undefined
  /** Resolves once the batch is on disk. */
  append(channel: number, batch: RecognizedSegment[]): Promise<void>
  close(): Promise<void>
}

type Line = { channel: number; batch: RecognizedSegment[] }

/**
 * Opens a file of one JSON line per batch. Truncates a last line that a crash left incomplete, so
 * that the next line is not appended to it.
 */
export async function openRecognitionCheckpoint(path: string): Promise<RecognitionCheckpoint> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  const recognized = new Map<string, RecognizedSegment[]>()
  for (const line of whole.split('\n')) {
    const known = parseLine(line)
    if (known) recognized.set(keyOf(known.channel, known.batch), known.batch)
  }
  const file = await open(path, 'a')
  await file.truncate(Buffer.byteLength(whole))
  let last = Promise.resolve()

  async function add(line: Line): Promise<void> {
    await file.appendFile(`${JSON.stringify(line)}\n`)
    await file.datasync()
    recognized.set(keyOf(line.channel, line.batch), line.batch)
  }

  return {
    find: (channel, batch) => recognized.get(keyOf(channel, batch)),
    append(channel, batch) {
      // One line after another: batches may end at the same time, and their bytes must not mix.
      const added = last.then(() => add({ channel, batch }))
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
 * Returns undefined for a line that a full disk or a power loss left incomplete: its batch is
 * recognized again.
 */
function parseLine(line: string): Line | undefined {
  try {
    return JSON.parse(line) as Line
  } catch {
    return undefined
  }
}

/**
 * Identifies a batch by its segments, so that a plan made by another version never takes the wrong
 * words.
 */
function keyOf(channel: number, batch: readonly (Segment | RecognizedSegment)[]): string {
  const spans = batch.map((part) => ('segment' in part ? part.segment : part))
  return [channel, ...spans.map(({ start, end }) => `${start}-${end}`)].join(' ')
}
