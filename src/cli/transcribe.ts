import { writeFile } from 'node:fs/promises'
import { parseArguments, readChoice, UsageError } from './arguments.ts'
import type { Client } from './client.ts'
import { type Format, formatResult, formats } from './formats.ts'
import { createProgress, type Progress } from './progress.ts'
import { countBytes, openRecording, type Recording, readRecording } from './recordings.ts'
import { planOutputs, prepareOutputs } from './results.ts'
import type { ServedResult } from './served.ts'
import { connectServer } from './server-connection.ts'
import { readServer, serverHelp, serverOptions } from './servers.ts'
import type { Command, Terminal } from './terminal.ts'

/** Recordings at the server at one time: one is heard, the next ones are there when it ends. */
const AHEAD = 4

const help = `Usage: steno transcribe FILE|URL... [options]

Writes what is said in recordings: audio or video files, http(s) addresses, or - for standard input.
Works without a running server: it then starts one of its own and takes it away at the end.

  --format FORMAT  ${formats.join(', ')}; default txt
  -o, --output     a file; or a folder, for several recordings or when it ends with a slash
  --language CODE  the language spoken, such as en; detected when absent
${serverHelp}
Results go to stdout or to the output, progress to stderr. A recording that fails is reported and the
others go on; the exit code is then 1.

  steno transcribe talk.mp3
  steno transcribe --format srt -o subtitles/ *.mp4
`

/** `steno transcribe`: a client of the HTTP API that brings a server along when there is none. */
export const transcribeCommand: Command = {
  help,
  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, {
      format: { type: 'string' },
      output: { type: 'string', short: 'o' },
      language: { type: 'string' },
      ...serverOptions,
    })
    if (positionals.length === 0) throw new UsageError('name at least one file or URL')
    const recordings = positionals.map(readRecording)
    const format = readChoice(values.format, { name: 'format', choices: formats })
    const outputs = planOutputs(recordings, { output: values.output, format })
    const server = readServer(values, terminal)
    await prepareOutputs(outputs)

    const progress = createProgress(terminal.stderr)
    terminal.signal.addEventListener('abort', progress.clear, { once: true })
    await using connection = await connectServer(server, { terminal, progress })
    const tools = { client: connection.client, progress, terminal, language: values.language }
    const work = (recording: Recording) => transcribe(recording, tools)
    const writer = { format, progress, terminal, several: recordings.length > 1 }
    let failed = 0
    let i = 0
    for await (const outcome of inOrder(recordings, work)) {
      const recording = recordings[i]!
      terminal.signal.throwIfAborted()
      if (!(await settle(outcome, { ...writer, recording, path: outputs[i] }))) failed++
      i++
    }
    return failed > 0 ? 1 : 0
  },
}

type Surroundings = { terminal: Terminal; progress: Progress }

type Tools = Surroundings & { client: Client; language: string | undefined }

async function transcribe(recording: Recording, tools: Tools): Promise<ServedResult> {
  const { client, progress, language } = tools
  const { name } = recording
  try {
    const audioUrl = recording.kind === 'url' ? recording.url : await upload(recording, tools)
    const id = await client.create({
      audio_url: audioUrl,
      ...(language ? { language_config: { languages: [language] } } : {}),
    })
    const job = await client.wait(id, ({ status, stage, fraction, seconds_left }) => {
      progress.show(name, { stage: stage ?? status, fraction, secondsLeft: seconds_left })
    })
    if (job.result) return job.result
    throw new Error(job.post_session_metadata.failure?.message ?? `The job failed: ${id}`)
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

type Writer = Surroundings & {
  recording: Recording
  path: string | undefined
  format: Format
  several: boolean
}

/** Writes a result where it belongs, or reports why there is none; tells whether there was one. */
async function settle(
  outcome: PromiseSettledResult<ServedResult>,
  { recording, path, format, several, progress, terminal }: Writer,
): Promise<boolean> {
  const { name } = recording
  try {
    if (outcome.status === 'rejected') throw outcome.reason
    const text = formatResult(outcome.value, format)
    if (path !== undefined) {
      await writeFile(path, text)
      progress.say(`${name}: written to ${path}`)
    } else {
      progress.clear()
      if (several && format === 'txt') terminal.stdout.write(`==> ${name} <==\n`)
      terminal.stdout.write(text)
    }
    return true
  } catch (error) {
    progress.say(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    return false
  }
}

/** Runs `work` over all items, some ahead of the one that is waited for; outcomes come in order. */
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
