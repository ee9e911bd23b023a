import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const FIXTURES = join(import.meta.dirname, '../../../test/fixtures')

/** Fifteen seconds of two people speaking; a WAVE file of 16-bit samples at 16 kHz. */
export const SPEECH_FILE = join(FIXTURES, 'two-voices.wav')

const HEADER_BYTES = 44

/** Returns the speech as 16-bit samples at 16 kHz. */
export async function readSamples(): Promise<Buffer> {
  return (await readFile(SPEECH_FILE)).subarray(HEADER_BYTES)
}
