import type { SubtitleFormat } from '../../../text/formats/subtitles/subtitles.ts'
import { serverHelp, serverOptions } from '../../client/server-url.ts'
import { parseArguments, UsageError } from '../../terminal/arguments.ts'
import { type Format, formats, readFormat, subtitleFormats } from '../formats.ts'
import { expandFolders, type Recording, readRecording } from '../input-files.ts'
import { planOutputs, planSideFiles, type SideFile } from '../output-files.ts'
import {
  addOnHelp,
  addOnOptions,
  completeOptions,
  readJobParams,
  readSubtitleFormats,
  readTargets,
} from './job-params.ts'

/** The text of `steno transcribe --help`. */
export const transcribeHelp = `Usage: steno transcribe FILE|URL... [options]

Transcribes recordings: audio or video files, folders of them (without subfolders), http(s) URLs, or - for
standard input. Without a running server it starts a private one and removes it at the end.

  --format FORMAT  ${formats.join(', ')}; json is the whole result, add-ons included;
                   default: the format in the name of the output (talk.srt), or else txt
  --json           same as --format json
  -o, --output     a file, or a folder for several recordings or if the name ends with a slash
  --language CODE  the spoken language, such as en; detected by default
  --overwrite      let --subtitles replace existing files
${serverHelp}${addOnHelp}
Results go to stdout or to the output, progress to stderr. -o replaces existing files; each written file is named
on stderr. The JSON of several recordings is an array of {"file", "result"}, or {"file", "error"}. If a recording
or one of its add-ons fails, the command reports it, continues with the others and exits with code 1.

  steno transcribe talk.mp3
  steno transcribe --format srt -o subtitles/ *.mp4
  steno transcribe talk.mp4 --subtitles srt,vtt --summary --vocabulary names.json
  steno transcribe meeting.m4a --speakers
  steno transcribe call.wav --redact pci,names --entities --json > call.json
`

/** One recording and the destination of its output: `path` is undefined for stdout. */
export type TranscribeTask = {
  recording: Recording
  path: string | undefined
  subtitles: SideFile<SubtitleFormat>[]
}

/**
 * The parsed command line of `steno transcribe`. `params` are the fields of the job request besides
 * `audio_url`.
 */
export type TranscribeOptions = {
  tasks: TranscribeTask[]
  format: Format
  params: Record<string, unknown>
  /** Whether subtitles may replace existing files. */
  overwrites: boolean
  server: { server?: string | undefined; key?: string | undefined }
}

/** Reads the command line and the files it names. Any problem with them throws a `UsageError`. */
export async function readTranscribeOptions(args: readonly string[]): Promise<TranscribeOptions> {
  const { values, positionals } = parseArguments(completeOptions(args), {
    format: { type: 'string' },
    json: { type: 'boolean' },
    output: { type: 'string', short: 'o' },
    language: { type: 'string' },
    overwrite: { type: 'boolean' },
    ...addOnOptions,
    ...serverOptions,
  })
  if (positionals.length === 0) throw new UsageError('name at least one file or URL')
  const recordings = expandFolders(positionals).map(readRecording)
  const format = readFormat(values)
  const outputs = planOutputs(recordings, { output: values.output, format })
  const requested = readSubtitleFormats(values.subtitles)
  const sideFiles = planSideFiles(recordings, {
    outputs,
    formats: requested,
    languages: readTargets(values.translate),
    translated: subtitleFormats.filter((name) => {
      return requested.includes(name) || (name === format && outputs[0] !== undefined)
    }),
  })
  const params = await readJobParams(values, { format })
  const tasks = recordings.map((recording, i) => {
    return { recording, path: outputs[i], subtitles: sideFiles[i]! }
  })
  return { tasks, format, params, overwrites: values.overwrite === true, server: values }
}
