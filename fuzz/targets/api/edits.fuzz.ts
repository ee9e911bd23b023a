import assert from 'node:assert/strict'
import { readEditRequest } from '../../../src/api/bodies/parsing/edit-request.ts'
import { AppError } from '../../../src/errors.ts'
import { applyEdits } from '../../../src/text/edits/apply-edits.ts'
import { editTranscript, readEdits } from '../../../src/text/edits/edit-task.ts'
import { formatWithVoices } from '../../../src/text/formats/subtitles/subtitles.ts'
import type { Utterance } from '../../../src/transcript/transcript.ts'
import { utteranceOf } from '../../../test/support/text/utterance-of.ts'
import { fuzzBytes } from '../../guided.ts'

const utterances = [
  utteranceOf('helo there all', { speaker: 0 }),
  utteranceOf('what is it', { start: 4, speaker: 1 }),
  utteranceOf('漢 字', { start: 8, speaker: 1, language: 'ja' }),
]
const result = JSON.stringify({ transcription: { utterances } })

const words = { utterance: 0, from: 0, to: 1, expected: 'helo' }
const requests = [
  [
    { op: 'replace_words', ...words, text: 'hello' },
    { op: 'name_speaker', speaker: 0, name: 'A' },
  ],
  [
    { op: 'delete_words', utterance: 1, expected: 'what is it' },
    { op: 'replace_words', ...words, text: 'a b c --> <d>' },
  ],
  [{ op: 'set_speaker', utterance: 1, from: 1, to: 2, expected: 'is', speaker: 5 }],
  [
    { op: 'join_speakers', speaker: 1, into: 0 },
    { op: 'name_speaker', channel: 0, name: 'B' },
  ],
  [{ op: 'restore', version: 0 }],
].map((operations) => Buffer.from(JSON.stringify({ base_version: 0, operations })))

/** Accepted corrections make a transcript in order, with what was corrected in files too. */
function correct(bytes: Buffer): void {
  let body: unknown
  try {
    body = JSON.parse(bytes.toString())
  } catch {
    return // What is no JSON is refused before.
  }
  const edits = read(body)
  if (!edits || !('operations' in edits)) return
  const made = editTranscript({ result, stored: [], operations: edits.operations })
  if ('problem' in made) return void assert.ok(made.problem.detail.length < 10_000)
  const { state, isIgnored } = readEdits(utterances, [made.changes!])
  assert.equal(isIgnored, false)
  const corrected = applyEdits(utterances, state)
  for (const [i, { start, end, words }] of corrected.entries()) {
    assert.ok(start >= (corrected[i - 1]?.start ?? 0) && end >= start, `${start} to ${end}`)
    assert.ok(words.length > 0)
    for (const word of words) assert.ok(word.end >= word.start)
  }
  checkSubtitles(corrected.map(toUtterance))
}

function read(body: unknown) {
  try {
    return readEditRequest(body, { unknownFields: 'ignore' })
  } catch (error) {
    assert.ok(error instanceof AppError && error.status < 500, String(error))
    return undefined
  }
}

type Corrected = ReturnType<typeof applyEdits>[number]

function toUtterance({ words, ...rest }: Corrected): Utterance {
  return { ...rest, words: words.map(({ word: text, ...times }) => ({ ...times, text })) }
}

/** No text of a caption opens another one. */
function checkSubtitles(corrected: readonly Utterance[]): void {
  for (const format of ['srt', 'vtt'] as const) {
    const file = formatWithVoices(corrected, format)
    for (const line of file.split(/\r\n|\r|\n/).filter((line) => line.includes('-->'))) {
      assert.match(line, /^\d{2,}:\d\d:\d\d[.,]\d{3} --> \d{2,}:\d\d:\d\d[.,]\d{3}$/)
    }
  }
}

/** The same for any text and times that a result may have. */
function captions(bytes: Buffer): void {
  const text = bytes.toString()
  const words = text
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, 200)
  const start = bytes.length > 0 ? bytes[0]! * 1000 : 0
  if (words.length > 0)
    checkSubtitles([
      toUtterance(
        applyEdits([utteranceOf(words.join(' '), { start })], readEdits([], []).state)[0]!,
      ),
    ])
}

const captionTexts = [
  'one --> two <v Ann> & 00:00:01,000 --> 00:00:02,000',
  'a\u2028b \u0085 NOTE x WEBVTT',
  'x'.repeat(300),
]
await fuzzBytes(
  'edits',
  { requests, captions: captionTexts.map((text) => Buffer.from(text)) },
  (bytes, kind) => (kind === 'requests' ? correct(bytes) : captions(bytes)),
)
