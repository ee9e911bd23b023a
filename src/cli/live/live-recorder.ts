import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Readable } from 'node:stream'
import { messageOf } from '../../errors.ts'
import type { LiveFormat } from './live-api-types.ts'

/** The format that every recorder must produce. */
export const MICROPHONE_FORMAT: LiveFormat = {
  encoding: 'wav/pcm',
  bit_depth: 16,
  sample_rate: 16_000,
  channels: 1,
}

/**
 * Programs that write the default microphone to standard output as raw samples, best known first.
 */
const recorders: Record<string, string> = {
  arecord: '-q -t raw -f S16_LE -r 16000 -c 1',
  parec: '--raw --format=s16le --rate=16000 --channels=1 --latency-msec=50',
  'pw-record': '--raw --format=s16 --rate=16000 --channels=1 -',
  rec: '-q -t raw -e signed-integer -b 16 -r 16000 -c 1 -',
  ffmpeg:
    process.platform === 'darwin'
      ? '-loglevel error -f avfoundation -i :0 -f s16le -ar 16000 -ac 1 -'
      : '-loglevel error -f alsa -i default -f s16le -ar 16000 -ac 1 -',
}

/** A recording program and its arguments. */
export type Recorder = { file: string; args: string[] }

/**
 * Returns the first recorder that is installed. Without one, throws an error that lists the
 * supported ones.
 */
export function findRecorder(env: Record<string, string | undefined>): Recorder {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  for (const [name, args] of Object.entries(recorders)) {
    const file = folders.map((folder) => join(folder, name)).find(isProgram)
    if (file !== undefined) return { file, args: args.split(' ') }
  }
  throw new Error(
    `Cannot record: none of ${Object.keys(recorders).join(', ')} is installed; ` +
      'install one, or pipe raw 16-bit samples into: steno live -',
  )
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * Records until `signal` aborts or the recorder ends. If the recorder fails, rejects with its error
 * output.
 */
export async function* recordAudio(
  { file, args }: Recorder,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = errorOf(child)
  const stop = () => void child.kill()
  signal.addEventListener('abort', stop, { once: true })
  try {
    yield* child.stdout
    const problem = await ended
    if (problem !== undefined && !signal.aborted) throw new Error(`Cannot record: ${problem}`)
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
}

/** Returns the error message of a recorder; undefined when it ended normally. */
async function errorOf(
  child: ChildProcessByStdio<null, Readable, Readable>,
): Promise<string | undefined> {
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-1000)
  })
  try {
    const [code, signal] = await once(child, 'close')
    if (code === 0) return undefined
    // Recorders print pages about their libraries first, and the reason last.
    const reason = output.trim().split('\n').at(-1)?.trim()
    return reason || `${child.spawnfile} ended with ${code ?? signal}`
  } catch (error) {
    return messageOf(error)
  }
}
