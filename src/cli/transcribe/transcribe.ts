import { writeFile } from 'node:fs/promises'
import type { ApiPreRecordedResult } from '../server/api-types.ts'
import type { Client } from '../server/client.ts'
import { connectServer } from '../server/server-connection.ts'
import { readServer } from '../server/server-url.ts'
import { createProgress, type Progress } from '../terminal/progress.ts'
import { sanitize } from '../terminal/sanitize-terminal.ts'
import type { Command, Terminal } from '../terminal/terminal.ts'
import { describeFailures } from './add-on-text.ts'
import { type Format, formatResult } from './formats.ts'
import { countBytes, openRecording, type Recording } from './recordings.ts'
import { prepareOutputs } from './results.ts'
import { readTranscribeOptions, type Task, transcribeHelp } from './transcribe-options.ts'

/**
 * How many recordings the server has at one time: while it recognizes one, the next ones are
 * already there.
 */
const AHEAD = 4

/**
 * `steno transcribe`: a client of the HTTP API that starts a server of its own when there is none.
 */
export const transcribeCommand: Command = {
  help: transcribeHelp,
  async run(args, terminal) {
    const { tasks, format, params, server: named } = await readTranscribeOptions(args)
    const server = readServer(named, terminal)
    const files = tasks.flatMap(({ path, subtitles }) => [
      path,
      ...subtitles.map(({ path }) => path),
    ])
    await prepareOutputs(files)

    const progress = createProgress(terminal.stderr)
    terminal.signal.addEventListener('abort', progress.clear, { once: true })
    await using connection = await connectServer(server, { terminal, progress })
    const tools = { client: connection.client, progress, terminal, params }
    const work = ({ recording }: Task) => transcribe(recording, tools)
    const writer = { format, progress, terminal, several: tasks.length > 1 }
    let failed = 0
    let i = 0
    for await (const outcome of inOrder(tasks, work)) {
      const task = tasks[i]!
      terminal.signal.throwIfAborted()
      if (!(await settle(outcome, { ...writer, task }))) failed++
      i++
    }
    return failed > 0 ? 1 : 0
  },
}

type Surroundings = { terminal: Terminal; progress: Progress }

type Tools = Surroundings & { client: Client; params: Record<string, unknown> }

async function transcribe(recording: Recording, tools: Tools): Promise<ApiPreRecordedResult> {
  const { client, progress, params } = tools
  const { name } = recording
  try {
    const audioUrl = recording.kind === 'url' ? recording.url : await upload(recording, tools)
    const id = await client.create({ audio_url: audioUrl, ...params })
    const job = await client.wait(id, ({ status, stage, fraction, seconds_left }) => {
      progress.show(name, { stage: stage ?? status, fraction, secondsLeft: seconds_left })
    })
    if (job.result) return job.result
    throw new Error(messageOf(job.post_session_metadata) ?? `The job failed: ${id}`)
  } finally {
    progress.end(name)
  }
}

async function upload(
  recording: Exclude<Recording, { kind: 'url' }>,
  { client, progress, terminal }: Tools,
): Promise<string> {
  const { name } = recording
  progress.show(name, { stage: 'upload' })
  async function open() {
    const opened = await openRecording(recording, terminal.stdin)
    return countBytes(opened, (fraction) => progress.show(name, { stage: 'upload', fraction }))
  }
  return client.upload({ filename: name, open })
}

type Writer = Surroundings & { task: Task; format: Format; several: boolean }

/**
 * Writes a result to its destination, or reports why there is none. Returns whether everything
 * succeeded.
 */
async function settle(
  outcome: PromiseSettledResult<ApiPreRecordedResult>,
  { task, format, several, progress, terminal }: Writer,
): Promise<boolean> {
  const { recording, path, subtitles } = task
  const name = sanitize(recording.name)
  async function write(file: string, text: string): Promise<void> {
    await writeFile(file, text)
    progress.say(`${name}: written to ${sanitize(file)}`)
  }
  try {
    if (outcome.status === 'rejected') throw outcome.reason
    const result = outcome.value
    const text = formatResult(result, format)
    if (path !== undefined) {
      await write(path, text)
    } else {
      progress.clear()
      if (several && format === 'txt') terminal.stdout.write(`==> ${name} <==\n`)
      terminal.stdout.write(text)
    }
    for (const file of subtitles) await write(file.path, formatResult(result, file.format))
    for (const warning of result.metadata.warnings ?? [])
      progress.say(`${name}: warning: ${warning}`)
    const failures = describeFailures(result)
    for (const failure of failures) progress.say(`${name}: ${failure}`)
    return failures.length === 0
  } catch (error) {
    progress.say(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    return false
  }
}

/** Runs `work` over all items, some ahead of the one that is awaited. Outcomes come in order. */
async function* inOrder<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): AsyncGenerator<PromiseSettledResult<R>> {
  const running: Promise<PromiseSettledResult<R>>[] = []
  for (const item of items) {
    running.push(Promise.allSettled([work(item)]).then(([outcome]) => outcome!))
    if (running.length >= AHEAD) yield await running.shift()!
  }
  for (const outcome of running) yield await outcome
}

/** Returns why a job failed, from its metadata. */
function messageOf({ failure }: { failure?: unknown }): string | undefined {
  return (failure as { message: string } | undefined)?.message
}
