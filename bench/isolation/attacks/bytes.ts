import type { Attack } from '../attacker.ts'
import { oddWav } from './containers.ts'
import { uploadSpeech } from './net.ts'

/** Bytes of one upload; an attack may send two gigabytes in all. */
const UPLOAD_BYTES = 250_000_000
/** The size of a disk that an attack can fill. */
const DISK_BYTES = 1_500_000_000

/** Generates the form of a large WAVE file while it is sent. */
async function* largeForm(): AsyncGenerator<Uint8Array> {
  const head = '--x\r\ncontent-disposition: form-data; name="audio"; filename="a.wav"\r\n\r\n'
  yield Buffer.from(head)
  const header = oddWav({ channels: 1, rate: 48_000, bits: 16 }).subarray(0, 44)
  header.writeUInt32LE(96_000, 28)
  header.writeUInt16LE(2, 32)
  yield header
  const piece = Buffer.alloc(1_000_000, 'any sound that is no silence ')
  for (let sent = 0; sent < UPLOAD_BYTES; sent += piece.length) yield piece
  yield Buffer.from('\r\n--x--\r\n')
}

const upload: Attack['run'] = (attacker) => {
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  return attacker.repeat(3, async () => {
    if (!attacker.spend(UPLOAD_BYTES)) return
    await attacker.send('/v2/upload', { body: ReadableStream.from(largeForm()) as never, headers })
  })
}

const WORDS = 'the a of to in and he she was that it his her is i you for on with as one two three'

/** Creates jobs on one recording whose texts grow with their parameters. */
function jobs(params: () => Record<string, unknown>): Attack['run'] {
  return async (attacker) => {
    const audio_url = await uploadSpeech(attacker)
    const text = JSON.stringify({ audio_url, ...params() })
    await attacker.repeat(4, async () => void (await attacker.send('/v2/pre-recorded', { text })))
  }
}

/** Add-ons that derive their results from the text, without a model. */
export const derived = {
  subtitles: true,
  subtitles_config: { formats: ['srt', 'vtt'] },
  sentences: true,
  named_entity_recognition: true,
  sentiment_analysis: true,
  summarization: true,
}

const spelling = (length: number) => ({
  ...derived,
  custom_spelling: true,
  custom_spelling_config: { spelling_dictionary: { ['K'.repeat(length)]: WORDS.split(' ') } },
})

const vocabulary = () => ({
  ...derived,
  custom_vocabulary: true,
  custom_vocabulary_config: {
    default_intensity: 1,
    vocabulary: Array.from({ length: 10_000 }, (_, n) => `Name ${n} ${'of somebody '.repeat(5)}`),
  },
})

const longWords = () => ({
  ...derived,
  custom_vocabulary: true,
  custom_vocabulary_config: {
    vocabulary: ['fellow'.repeat(7000), 'e\u0301'.repeat(20_000), 'ß'.repeat(40_000)],
  },
  custom_spelling: true,
  custom_spelling_config: {
    spelling_dictionary: { Long: ['İ'.repeat(40_000), "a-'".repeat(20_000)] },
  },
})

/** Bytes and texts that fill the disk, the memory or the threads of texts. */
export const byteAttacks: Record<string, Attack> = {
  'bytes-uploads': { run: upload },
  'bytes-uploads-disk': { run: upload, surroundings: { diskBytes: DISK_BYTES } },
  'bytes-results': { run: jobs(() => spelling(900_000)) },
  'bytes-results-medium': { run: jobs(() => spelling(50_000)) },
  'bytes-results-disk': {
    run: jobs(() => spelling(900_000)),
    surroundings: { diskBytes: DISK_BYTES },
  },
  'bytes-vocabulary': { run: jobs(vocabulary) },
  'bytes-long-words': { run: jobs(longWords) },
}
