import { writeFile } from 'node:fs/promises'
import { messageOf } from '../../errors.ts'
import { addAddressRemedy } from '../client/address-remedy.ts'
import type { ApiPreRecordedResult } from '../client/api-types.ts'
import type { Client, ServerCapabilities } from '../client/client.ts'
import { connectServer } from '../client/server-connection.ts'
import { readServer } from '../client/server-url.ts'
import { createProgressDisplay, type ProgressDisplay } from '../terminal/progress-display.ts'
import { sanitize } from '../terminal/sanitize.ts'
import { explainTemporaryFiles } from '../terminal/temporary-folder.ts'
import type { Command, Terminal } from '../terminal/terminal.ts'
import { describeFailures, describeLeftOut, retriableAddOns } from './add-on-text.ts'
import { checkLanguage } from './check-language.ts'
import { checkLimits } from './check-limits.ts'
import { type Format, formatResult, formatTranslation, refuseTerminal } from './formats.ts'
import {
  countBytes,
  findRecordingProblem,
  openRecording,
  type Recording,
  recordingBytes,
} from './input-files.ts'
import {
  readTranscribeOptions,
  type TranscribeTask,
  transcribeHelp,
} from './options/transcribe-options.ts'
import { explainWriting, prepareOutputs, refuseExisting } from './output-files.ts'
import { createResultWriter, type ResultWriter } from './result-writer.ts'
import { runAhead } from './run-ahead.ts'
import { stageName } from './stage-names.ts'

/**
 * `steno transcribe`: a client of the HTTP API that starts a private server when no other is
 * available.
 */
export const transcribeCommand: Command = {
  help: transcribeHelp,
  async run(args, terminal) {
    const { tasks, format, params, overwrites, server: named } = await readTranscribeOptions(args)
    if (tasks[0]?.path === undefined) refuseTerminal(format, terminal.stdout)
    const server = readServer(named, terminal)
    const files = tasks.flatMap(({ path, subtitles }) => [
      path,
      ...subtitles.map(({ path }) => path),
    ])
    await prepareOutputs(files)
    if (!overwrites) refuseExisting(tasks.flatMap(({ subtitles }) => subtitles))

    const progress = createProgressDisplay(terminal.stderr)
    terminal.signal.addEventListener('abort', progress.clear, { once: true })
    const results = createResultWriter(terminal.stdout, { format, hasMany: tasks.length > 1 })
    const writer = { format, progress, results }
    const problems = await Promise.all(tasks.map((task) => findRecordingProblem(task.recording)))
    if (problems.every((problem) => problem !== undefined)) {
      // No server is needed to report these problems.
      for (const [i, reason] of problems.entries()) {
        await reportOutcome({ status: 'rejected', reason }, { ...writer, task: tasks[i]! })
      }
      results.end()
      return 1
    }
    await using connection = await connectServer(server, { terminal, progress })
    const running = new Map<string, string>()
    const requested = new Set<Recording>()
    if (!connection.isPrivate) {
      const printJobs = () => printRunningJobs({ running, requested }, progress)
      terminal.signal.addEventListener('abort', printJobs)
    }
    const getCapabilities = createCapabilitiesLookup(connection.client)
    const { client, isPrivate } = connection
    const jobs = { running, requested }
    const deps = { client, isPrivate, getCapabilities, ...jobs, progress, terminal, params }
    const work = ({ recording }: TranscribeTask) => transcribeRecording(recording, deps)
    let failed = 0
    let i = 0
    for await (const outcome of runAhead(tasks, {
      bytesOf: ({ recording }) => recordingBytes(recording),
      work,
    })) {
      const task = tasks[i]!
      terminal.signal.throwIfAborted()
      const keepsJobs = !connection.isPrivate
      if (!(await reportOutcome(outcome, { ...writer, task, keepsJobs }))) failed++
      i++
    }
    results.end()
    return failed > 0 ? 1 : 0
  },
}

type Deps = {
  terminal: Terminal
  progress: ProgressDisplay
  client: Client
  /** Whether the server is private to this command. */
  isPrivate: boolean
  params: Record<string, unknown>
  getCapabilities: () => Promise<ServerCapabilities>
  /** The names of recordings by the ids of their jobs. */
  running: Map<string, string>
  /** The recordings whose jobs are requested: the server may create them after an interruption. */
  requested: Set<Recording>
}

/** Prints the jobs that continue on the server, or may, when the command is interrupted. */
function printRunningJobs(
  { running, requested }: Pick<Deps, 'running' | 'requested'>,
  progress: ProgressDisplay,
): void {
  for (const [id, name] of running) {
    progress.printLine(
      `${sanitize(name)}: job ${id} continues; to stop it: steno jobs cancel ${id}`,
    )
  }
  for (const { name } of requested) {
    progress.printLine(`${sanitize(name)}: its job may continue; to find it: steno jobs`)
  }
}

/**
 * Returns a function that requests the capabilities of the server once, when first needed.
 */
function createCapabilitiesLookup(client: Client): () => Promise<ServerCapabilities> {
  let capabilities: Promise<ServerCapabilities> | undefined
  return () => {
    capabilities ??= client.capabilities()
    return capabilities
  }
}

/** The result of a job. */
type FinishedJob = { id: string; result: ApiPreRecordedResult }

async function transcribeRecording(recording: Recording, deps: Deps): Promise<FinishedJob> {
  const { client, progress, params, running, requested } = deps
  const { name } = recording
  let id: string | undefined
  try {
    const audioUrl =
      recording.kind === 'url' ? recording.url : await uploadRecording(recording, deps)
    requested.add(recording)
    const creation = client.create({ audio_url: audioUrl, ...params })
    id = await creation.finally(() => requested.delete(recording))
    running.set(id, name)
    const job = await client.wait(id, ({ status, stage, fraction, seconds_left }) => {
      const step = { stage: stageName(stage ?? status), fraction, secondsLeft: seconds_left }
      progress.show(name, step)
    })
    if (job.result) return { id, result: job.result }
    throw new Error(failureMessage(job.post_session_metadata) ?? `The job failed: ${id}`)
  } catch (error) {
    throw deps.isPrivate ? explainTemporaryFiles(error) : error
  } finally {
    if (id !== undefined && !deps.terminal.signal.aborted) running.delete(id)
    progress.end(name)
  }
}

async function uploadRecording(
  recording: Exclude<Recording, { kind: 'url' }>,
  { client, isPrivate, params, getCapabilities, progress, terminal }: Deps,
): Promise<string> {
  const { name } = recording
  const { signal } = terminal
  const stage = stageName(isPrivate ? 'decode' : 'upload')
  await checkLanguage(params, getCapabilities)
  const getLimits = async () => (await getCapabilities()).limits
  if (recording.kind === 'file') await checkLimits(recording.path, { getLimits, signal })
  progress.show(name, { stage })
  // The file may be read a little longer after the upload was refused.
  let isOver = false
  async function open() {
    const opened = await openRecording(recording, terminal.stdin)
    return countBytes(opened, (fraction) => {
      if (!isOver) progress.show(name, { stage, fraction })
    })
  }
  try {
    return await client.upload({ filename: name, open })
  } finally {
    isOver = true
  }
}

type OutcomeOptions = {
  task: TranscribeTask
  format: Format
  progress: ProgressDisplay
  results: ResultWriter
  /** Whether the server keeps running, so that a failed add-on can be retried. */
  keepsJobs?: boolean
}

/**
 * Writes a result to its destination, or reports the error. Returns whether everything succeeded.
 */
async function reportOutcome(
  outcome: PromiseSettledResult<FinishedJob>,
  { task, format, progress, results, keepsJobs = false }: OutcomeOptions,
): Promise<boolean> {
  const { recording, path, subtitles } = task
  const name = sanitize(recording.name)
  async function write(file: string, text: string | Uint8Array): Promise<boolean> {
    try {
      await writeFile(file, text)
      progress.printLine(`${name}: written to ${sanitize(file)}`)
      return true
    } catch (error) {
      progress.printLine(`${name}: ${explainWriting(file, error)}`)
      return false
    }
  }
  try {
    if (outcome.status === 'rejected') throw outcome.reason
    const { id, result } = outcome.value
    const text = formatResult(result, format)
    progress.clear()
    let failed = 0
    if (path === undefined) results.write(recording, { text })
    else if (!(await write(path, text))) {
      // Prints the text instead, so that the work is not lost.
      results.write(recording, { text })
      failed++
    }
    for (const file of subtitles) {
      const { language, format: written } = file
      const content =
        language === undefined
          ? formatResult(result, written)
          : formatTranslation(result, { language, format: written })
      // A translation that failed is reported below.
      if (content !== undefined && !(await write(file.path, content))) failed++
    }
    if (result.transcription.utterances.length === 0) progress.printLine(`${name}: no speech found`)
    for (const warning of result.metadata.warnings ?? [])
      progress.printLine(`${name}: warning: ${warning}`)
    const isTranslated = subtitles.some(({ language }) => language !== undefined)
    const leftOut = describeLeftOut(result, { format, isTranslated })
    if (leftOut !== undefined) progress.printLine(`${name}: ${leftOut}`)
    const failures = describeFailures(result)
    for (const failure of failures) progress.printLine(`${name}: ${failure}`)
    for (const addOn of keepsJobs ? retriableAddOns(result) : []) {
      progress.printLine(`${name}: to try ${addOn} again: steno jobs retry ${id} ${addOn}`)
    }
    return failures.length + failed === 0
  } catch (error) {
    const message = messageOf(error)
    progress.printLine(`${name}: ${message}`)
    if (path === undefined) results.write(recording, { error: message })
    return false
  }
}

/** Returns the failure message of a job from its metadata, with a remedy if there is one. */
function failureMessage({ failure }: { failure?: unknown }): string | undefined {
  const message = (failure as { message: string } | undefined)?.message
  return message && addAddressRemedy(message)
}
