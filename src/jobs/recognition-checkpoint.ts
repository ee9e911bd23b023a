import { open, readFile } from 'node:fs/promises'
import type { RecognizedSegment, Segment } from '../asr/speech-engine.ts'

/** What was heard so far in the batches of one job, also by an earlier attempt. */
export type RecognitionCheckpoint = {
  find(channel: number, batch: readonly Segment[]): RecognizedSegment[] | undefined
  /** Resolves once the batch is on the disk. */
  append(channel: number, batch: RecognizedSegment[]): Promise<void>
  close(): Promise<void>
}

type Line = { channel: number; batch: RecognizedSegment[] }

/**
 * Opens a file of one JSON line per batch. A last line that a crash tore is cut off, so that the next
 * one does not grow out of it.
 */
export async function openRecognitionCheckpoint(path: string): Promise<RecognitionCheckpoint> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  const heard = new Map<string, RecognizedSegment[]>()
  for (const line of whole.split('\n')) {
    const known = parseLine(line)
    if (known) heard.set(keyOf(known.channel, known.batch), known.batch)
  }
  const file = await open(path, 'a')
  await file.truncate(Buffer.byteLength(whole))
  let last = Promise.resolve()

  async function add(line: Line): Promise<void> {
    await file.appendFile(`${JSON.stringify(line)}\n`)
    await file.datasync()
    heard.set(keyOf(line.channel, line.batch), line.batch)
  }

  return {
    find: (channel, batch) => heard.get(keyOf(channel, batch)),
    append(channel, batch) {
      // One line after another: batches end at the same time, and their bytes must not mix.
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

/** Undefined for a line that a full disk or a loss of power left incomplete: its batch is heard again. */
function parseLine(line: string): Line | undefined {
  try {
    return JSON.parse(line) as Line
  } catch {
    return undefined
  }
}

/** A batch is known by its segments, so that a plan made by another version never takes the wrong words. */
function keyOf(channel: number, batch: readonly (Segment | RecognizedSegment)[]): string {
  const spans = batch.map((part) => ('segment' in part ? part.segment : part))
  return [channel, ...spans.map(({ start, end }) => `${start}-${end}`)].join(' ')
}
