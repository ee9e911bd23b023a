import { randomBytes } from 'node:crypto'
import { wavHeader } from '../../../audio/containers/wav-header.ts'
import { SAMPLE_RATE } from '../../../audio/pcm.ts'

/**
 * The response formats that a request may ask for: words and segments with times, segments with
 * times, or a text alone. Not every server or model supports the first.
 */
export const responseFormats = ['words', 'segments', 'text'] as const

/** One of `responseFormats`. */
export type ResponseFormat = (typeof responseFormats)[number]

/** Audio to recognize, as 16-bit samples at 16 kHz, and how. */
export type RemoteFormFields = {
  audio: Uint8Array
  model: string
  language: string | undefined
  prompt: string
  responseFormat: ResponseFormat
}

const fieldsOfForm: Record<ResponseFormat, [name: string, value: string][]> = {
  words: [
    ['response_format', 'verbose_json'],
    ['timestamp_granularities[]', 'word'],
    ['timestamp_granularities[]', 'segment'],
  ],
  segments: [['response_format', 'verbose_json']],
  text: [['response_format', 'json']],
}

/** Writes a request for a transcription as `multipart/form-data` (RFC 7578). */
export function writeMultipartForm({
  audio,
  model,
  language,
  prompt,
  responseFormat,
}: RemoteFormFields): {
  contentType: string
  body: Buffer
} {
  const boundary = `steno-${randomBytes(16).toString('hex')}`
  const fields = [['model', model], ...fieldsOfForm[responseFormat]]
  if (language !== undefined) fields.push(['language', language])
  if (prompt !== '') fields.push(['prompt', prompt])
  const head = (disposition: string) => `--${boundary}\r\nContent-Disposition: ${disposition}\r\n`
  const texts = fields.map(([name, value]) => {
    return `${head(`form-data; name="${name}"`)}\r\n${value}\r\n`
  })
  const format = { encoding: 's16', sampleRate: SAMPLE_RATE, channels: 1 } as const
  const file = `${head('form-data; name="file"; filename="audio.wav"')}Content-Type: audio/wav\r\n\r\n`
  const body = Buffer.concat([
    Buffer.from(texts.join('') + file),
    wavHeader(format, audio.byteLength),
    audio,
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
  return { contentType: `multipart/form-data; boundary=${boundary}`, body }
}
