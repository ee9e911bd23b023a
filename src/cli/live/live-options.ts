import { serverOptions } from '../client/server-url.ts'
import { parseArguments, readChoice, UsageError } from '../terminal/arguments.ts'
import { type Format, readFormat } from '../transcribe/formats.ts'
import {
  completeOptions,
  readPostProcessing,
  readTranslation,
} from '../transcribe/options/job-params.ts'
import { planOutputs } from '../transcribe/output-files.ts'
import type { LiveFormat } from './live-api-types.ts'
import type { AudioSource } from './live-audio.ts'
import { MICROPHONE_FORMAT } from './live-recorder.ts'

/** The parsed command line of `steno live`. */
export type LiveOptions = {
  source: AudioSource
  /** The name of the audio in messages. */
  name: string
  language: string | undefined
  /**
   * The fields of `realtime_processing` that request translations; empty if none were requested.
   */
  translation: Record<string, unknown>
  /**
   * The fields of `post_processing` that request a summary and answers; empty if none were
   * requested.
   */
  postProcessing: Record<string, unknown>
  endpointing: number | undefined
  threshold: number | undefined
  partials: boolean
  format: Format
  output: string | undefined
  server: { server?: string | undefined; key?: string | undefined }
}

const options = {
  mic: { type: 'boolean' },
  fast: { type: 'boolean' },
  language: { type: 'string' },
  translate: { type: 'string', multiple: true },
  summary: { type: 'string' },
  ask: { type: 'string', multiple: true },
  endpointing: { type: 'string' },
  threshold: { type: 'string' },
  'no-partials': { type: 'boolean' },
  rate: { type: 'string' },
  channels: { type: 'string' },
  format: { type: 'string' },
  output: { type: 'string', short: 'o' },
  ...serverOptions,
} as const

/** Reads the command line of `steno live`. */
export function readLiveOptions(args: readonly string[]): LiveOptions {
  const { values, positionals } = parseArguments(completeOptions(args), options)
  const [path, ...extra] = positionals
  if (values.mic ? path !== undefined : path === undefined || extra.length > 0) {
    throw new UsageError('name one file, or - for standard input, or --mic')
  }
  if (path !== undefined && /^[a-z][a-z\d+.-]+:\/\//i.test(path)) {
    throw new UsageError(
      `steno live does not open addresses. steno transcribe fetches a recording; pipe a stream in: ` +
        `ffmpeg -i ADDRESS -f wav -ac 1 -ar 16000 - | steno live -`,
    )
  }
  const isFile = !values.mic && path !== '-'
  if (values.fast && !isFile)
    throw new UsageError('--fast is for files: live audio has its own pace')
  if ((values.rate ?? values.channels) !== undefined && (isFile || values.mic)) {
    throw new UsageError('--rate and --channels are for raw samples on standard input')
  }
  const name = values.mic ? 'microphone' : path === '-' ? 'stdin' : path!
  const format = readFormat(values)
  const [output] = planOutputs([{ kind: isFile ? 'file' : 'stdin', name, path: name }], {
    output: values.output,
    format,
  })
  return {
    source: values.mic
      ? { kind: 'microphone' }
      : isFile
        ? { kind: 'file', path: name, isFast: values.fast === true }
        : { kind: 'stdin', raw: readRaw(values) },
    name,
    language: values.language,
    translation: readTranslation(values.translate),
    postProcessing: readPostProcessing(values),
    endpointing: readDecimal(values.endpointing, { name: 'endpointing', min: 0.01, max: 10 }),
    threshold: readDecimal(values.threshold, { name: 'threshold', min: 0, max: 1 }),
    partials: !values['no-partials'],
    format,
    output,
    server: values,
  }
}

type Raw = { rate?: string | undefined; channels?: string | undefined }

function readRaw({ rate = '16000', channels = '1' }: Raw): LiveFormat {
  const sample_rate = Number(
    readChoice(rate, { name: 'rate', choices: ['16000', '8000', '32000', '44100', '48000'] }),
  )
  const count = Number(
    readChoice(channels, { name: 'channels', choices: ['1', '2', '3', '4', '5', '6', '7', '8'] }),
  )
  return { ...MICROPHONE_FORMAT, sample_rate, channels: count }
}

function readDecimal(
  text: string | undefined,
  { name, min, max }: { name: string; min: number; max: number },
): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (text.trim() !== '' && value >= min && value <= max) return value
  throw new UsageError(`--${name} must be a number from ${min} to ${max}, not '${text}'`)
}
