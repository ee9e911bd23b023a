import type { ApiAddOnAnswer, ApiPreRecordedJob } from '../client/api-types.ts'
import { type Client, createClient } from '../client/client.ts'
import { readServer, serverHelp, serverOptions } from '../client/server-url.ts'
import type { RequestError } from '../client/transport.ts'
import { parseArguments, parseNumberOption, readChoice, UsageError } from '../terminal/arguments.ts'
import { formatSeconds } from '../terminal/progress-display.ts'
import { sanitize, sanitizeJson, sanitizeLines } from '../terminal/sanitize.ts'
import type { Command, Terminal } from '../terminal/terminal.ts'
import { refuseTerminal } from '../transcribe/formats.ts'
import { formatVersion } from './transcript-versions.ts'

const help = `Usage: steno jobs [list] [--status STATES] [--metadata JSON] [--limit N] [--offset N]
       steno jobs show ID [--format txt|srt|vtt|json|csv|docx [--no-edited]]
       steno jobs edits ID
       steno jobs cancel ID...
       steno jobs retry ID ADDON
       steno jobs delete ID...

  list    lists the jobs of a server, newest first, with the number of warnings of each result
  show    prints a job as JSON, warnings included (result.metadata), or its transcript in a format
  edits   lists the corrected versions of a transcript, newest first
  cancel  cancels jobs that are queued or running
  retry   retries a failed add-on (such as subtitles) and prints its result as JSON
  delete  deletes ended jobs with their audio

The command reports jobs that it cannot cancel or delete. Then, or if an add-on fails again, the exit code is 1.

  --status STATES  only queued, processing, done or error jobs; comma-separated
  --metadata JSON  only jobs with these keys in their custom_metadata, such as '{"team":"red"}'
  --format FORMAT  for show: the transcript as txt, srt, vtt, json, csv or docx instead of the whole job
  --edited         for show: with corrections, if there are any (default); --no-edited: without them
  --limit N        jobs per page; default 20
  --offset N       jobs to skip; default 0
${serverHelp}`

/** `steno jobs`: the job list of a running server. */
export const jobsCommand: Command = {
  help,
  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, {
      status: { type: 'string' },
      metadata: { type: 'string' },
      format: { type: 'string' },
      edited: { type: 'boolean' },
      'no-edited': { type: 'boolean' },
      limit: { type: 'string' },
      offset: { type: 'string' },
      ...serverOptions,
    })
    const [verb = 'list', ...ids] = positionals
    refuseOtherOptions(verb, values)
    const client = createClient(readServer(values, terminal), terminal.signal)
    const { stdout } = terminal
    if (verb === 'list' && ids.length === 0) return list(values, { client, terminal })
    if (verb === 'show' && ids.length === 1 && values.format !== undefined) {
      const choices = ['txt', 'srt', 'vtt', 'json', 'csv', 'docx'] as const
      const format = readChoice(values.format, { name: 'format', choices })
      refuseTerminal(format, stdout)
      const edited = readEdited(values)
      stdout.write(await client.transcript(ids[0]!, format, { edited }))
      return 0
    }
    if (values.edited || values['no-edited']) {
      throw new UsageError('--edited and --no-edited need --format FORMAT')
    }
    if (verb === 'edits' && ids.length === 1) {
      const { versions } = await client.transcriptEdits(ids[0]!)
      stdout.write(versions.map(formatVersion).join(''))
      return 0
    }
    if (verb === 'show' && ids.length === 1) {
      stdout.write(`${sanitizeJson(await client.find(ids[0]!))}\n`)
      return 0
    }
    if (verb === 'retry' && ids.length === 2) {
      const [id, addOn] = ids as [string, string]
      const addOnResult = await client.retryAddOn(id, addOn)
      stdout.write(`${sanitizeJson(addOnResult)}\n`)
      return hasFailed(addOnResult) ? 1 : 0
    }
    if ((verb === 'delete' || verb === 'cancel') && ids.length > 0) {
      const change = verb === 'delete' ? client.remove : client.cancel
      let failed = 0
      for (const id of ids) {
        await change(id).catch((error: RequestError) => {
          terminal.signal.throwIfAborted()
          terminal.stderr.write(`${id}: ${sanitizeLines(error.message)}\n`)
          failed++
        })
      }
      return failed > 0 ? 1 : 0
    }
    if (Object.hasOwn(VERB_ARGUMENTS, verb)) {
      throw new UsageError(`${verb} takes ${VERB_ARGUMENTS[verb]}`)
    }
    throw new UsageError(`unknown subcommand '${positionals.join(' ')}'`)
  },
}

type ListOptions = Filters & { limit?: string | undefined; offset?: string | undefined }

async function list(
  values: ListOptions,
  { client, terminal }: { client: Client; terminal: Terminal },
): Promise<number> {
  const limit = parseNumberOption(values.limit, { name: 'limit', fallback: 20, min: 1 })
  const offset = parseNumberOption(values.offset, { name: 'offset', fallback: 0, min: 0 })
  const { items, next } = await client.list({ ...readFilters(values), offset, limit })
  terminal.stdout.write(items.map(formatJob).join(''))
  if (next !== null) {
    terminal.stderr.write(
      `More results: repeat the command with --offset ${offset + items.length}\n`,
    )
  }
  return 0
}

/** The arguments of subcommands. */
const VERB_ARGUMENTS: Readonly<Record<string, string>> = {
  list: 'options only',
  show: 'the ID of a job',
  edits: 'the ID of a job',
  retry: 'the ID of a job and the name of an ADDON',
  delete: 'the IDs of jobs',
  cancel: 'the IDs of jobs',
}

/** The options of subcommands, besides those of the server. */
const VERB_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  list: ['status', 'metadata', 'limit', 'offset'],
  show: ['format', 'edited', 'no-edited'],
  edits: [],
  retry: [],
  delete: [],
  cancel: [],
}

/** Throws a `UsageError` for an option that has no effect on a known subcommand. */
function refuseOtherOptions(verb: string, values: Readonly<Record<string, unknown>>): void {
  const allowed = Object.hasOwn(VERB_OPTIONS, verb) ? VERB_OPTIONS[verb]! : Object.keys(values)
  const names = [...allowed, ...Object.keys(serverOptions)]
  const wrong = Object.keys(values).find((name) => !names.includes(name))
  if (wrong !== undefined) throw new UsageError(`${verb} takes no --${wrong}`)
}

/**
 * Returns whether an add-on failed: subtitles are an array of files, which is empty then; all other
 * add-ons have an envelope.
 */
function hasFailed(addOnResult: ApiAddOnAnswer): boolean {
  return Array.isArray(addOnResult) ? addOnResult.length === 0 : !addOnResult.success
}

function readEdited(values: { edited?: boolean; 'no-edited'?: boolean }): boolean {
  if (values.edited && values['no-edited']) {
    throw new UsageError('--edited and --no-edited contradict each other')
  }
  return !values['no-edited']
}

type Filters = { status?: string | undefined; metadata?: string | undefined }

const STATES = ['queued', 'processing', 'done', 'error']

function readFilters({ status, metadata }: Filters) {
  const wrong = status?.split(',').find((state) => !STATES.includes(state))
  if (wrong !== undefined) {
    throw new UsageError(`--status must be some of: ${STATES.join(', ')}; not '${wrong}'`)
  }
  if (metadata !== undefined && !isJsonObject(metadata)) {
    throw new UsageError(`--metadata must be a JSON object such as {"team":"red"}`)
  }
  return { ...(status && { status }), ...(metadata && { custom_metadata: metadata }) }
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** Formats a job as one line: id, status, creation time, duration, name, number of warnings. */
function formatJob({
  id,
  status,
  created_at,
  error_code,
  file,
  result,
}: ApiPreRecordedJob): string {
  const state = error_code === null ? status : `${status} ${error_code}`
  const length = file?.audio_duration == null ? '-' : formatSeconds(file.audio_duration)
  const name = file?.filename ?? file?.source ?? '-'
  const warned = countWarnings(result?.metadata.warnings)
  const line = `${id}  ${state.padEnd(10)}  ${created_at}  ${length.padStart(11)}  ${name}${warned}`
  return `${sanitize(line)}\n`
}

function countWarnings(warnings: readonly string[] = []): string {
  if (warnings.length === 0) return ''
  return `  (${warnings.length} ${warnings.length === 1 ? 'warning' : 'warnings'})`
}
