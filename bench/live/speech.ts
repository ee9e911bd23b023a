import { readFile } from 'node:fs/promises'
import { createRandom } from '../../test/support/random/random.ts'
import { decodeCorpus, type Recording, type ReferenceWord, readCorpus } from '../support/corpus.ts'
import { shuffle } from '../support/shuffle.ts'

/** About a minute of speech: 16-bit samples at 16 kHz, and the reference text. */
export type Speech = {
  samples: Buffer
  transcript: string
  /** The words of the reference with times; empty if the times are not known. */
  words: ReferenceWord[]
}

const SECONDS = 60
const BYTES_PER_SECOND = 32_000

/** Groups of the corpus that resemble dictation or calls; noise has a separate bench. */
const GROUPS = ['read', 'speech-public', 'speech', 'spontaneous', 'telephone', 'conversation']
/** Longer recordings are not used, since one would fill a session. */
const MAX_RECORDING_SECONDS = 30

/** Pauses between the recordings, in seconds. */
const PAUSE = { min: 0.6, max: 2 }

/**
 * Joins recordings of the corpus, with pauses, to sessions of about a minute each; the same in
 * every run.
 */
export async function readSpeech(): Promise<{ corpus: string; speeches: Speech[] }> {
  const { name, recordings } = await readCorpus()
  const usable = recordings.filter(({ transcript, group }) => transcript && GROUPS.includes(group))
  const { decoded, dispose } = await decodeCorpus(usable)
  const random = createRandom(1)
  const parts: { recording: Recording; samples: Buffer }[] = []
  for (const [recording, { path, samples }] of decoded) {
    if (samples / 16_000 > MAX_RECORDING_SECONDS) continue
    parts.push({ recording, samples: await readFile(path) })
  }
  await dispose()
  shuffle(parts, random)
  const speeches: Speech[] = []
  for (let i = 0; i < parts.length; ) {
    const session = startSpeech(random)
    // A corpus of one recording is repeated.
    do session.add(parts[i++ % parts.length]!)
    while (session.seconds < SECONDS && (i < parts.length || parts.length < 10))
    speeches.push(session.end())
  }
  return {
    corpus: name,
    speeches: speeches.filter(({ samples }) => seconds(samples) > SECONDS / 2),
  }
}

/** Returns the duration of 16-bit samples at 16 kHz, in seconds. */
export function seconds(samples: Buffer): number {
  return samples.length / BYTES_PER_SECOND
}

function startSpeech(random: () => number) {
  const buffers = [pause(random)]
  const transcripts: string[] = []
  const words: ReferenceWord[] = []
  let length = buffers[0]!.length
  return {
    get seconds() {
      return length / BYTES_PER_SECOND
    },
    add({ recording, samples }: { recording: Recording; samples: Buffer }) {
      const at = length / BYTES_PER_SECOND
      for (const { word, start, end } of recording.words ?? []) {
        words.push({ word, start: start + at, end: end + at })
      }
      transcripts.push(recording.transcript!)
      const rest = pause(random)
      buffers.push(samples, rest)
      length += samples.length + rest.length
    },
    end(): Speech {
      return { samples: Buffer.concat(buffers), transcript: transcripts.join(' '), words }
    },
  }
}

/**
 * Returns the noise of a quiet room, about 80 dB below full scale, since microphones do not record
 * digital silence.
 */
function pause(random: () => number): Buffer {
  const length = PAUSE.min + random() * (PAUSE.max - PAUSE.min)
  const samples = Int16Array.from({ length: Math.round(length * 16_000) }, () => random() * 12 - 6)
  return Buffer.from(samples.buffer)
}
