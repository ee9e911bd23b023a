import assert from 'node:assert/strict'
import test from 'node:test'
import { type OpenAiFormat, writeOpenAi } from './openai.ts'

const word = (text: string, start: number, confidence: number) => {
  return { word: text, start, end: start + 0.5, confidence }
}
const transcript = {
  utterances: [
    {
      text: ' Hi Bo.',
      language: 'de',
      start: 0,
      end: 1,
      confidence: 0.9,
      channel: 0,
      speaker: 27,
      words: [word(' Hi', 0, 1), word(' Bo.', 0.5, 0)],
    },
  ],
  languages: ['de'],
  duration: 1.2,
}
const format: OpenAiFormat = {
  shape: 'json',
  task: 'transcribe',
  words: false,
  segments: true,
  logprobs: false,
  stream: false,
}
const write = (changed: Partial<OpenAiFormat>) => {
  return JSON.parse(writeOpenAi(transcript, { ...format, ...changed }))
}

test('a confidence of 0 has a finite log probability, and language names are English', () => {
  const { segments, language } = write({ shape: 'verbose_json' })
  assert.equal(language, 'german')
  assert.equal(segments[0].avg_logprob, -4.6051)
  assert.deepEqual(
    write({ logprobs: true }).logprobs.map(({ logprob }: { logprob: number }) => logprob),
    [0, -9.2103],
  )
})

test('the tokens of log probabilities make up the text, in events too', () => {
  const [first] = transcript.utterances
  const second = { ...first!, text: 'At one.', words: [word('At', 2, 1), word(' one.', 2.5, 1)] }
  const both = { ...transcript, utterances: [first!, second] }
  const asked = { ...format, logprobs: true }
  type Logged = { text?: string; delta?: string; logprobs: { token: string; bytes: number[] }[] }
  const joined = ({ logprobs }: Logged) => logprobs.map(({ token }) => token).join('')
  const made = JSON.parse(writeOpenAi(both, asked)) as Logged
  assert.deepEqual([joined(made), made.text], ['Hi Bo. At one.', 'Hi Bo. At one.'])
  assert.deepEqual(made.logprobs[2]!.bytes, [...Buffer.from(' At')])
  const lines = writeOpenAi(both, { ...asked, stream: true }).match(/(?<=^data: ).+/gm)!
  const events = lines.map((line) => JSON.parse(line) as Logged)
  assert.deepEqual(events.map(joined), ['Hi Bo.', ' At one.', 'Hi Bo. At one.'])
  assert.deepEqual(
    events.map(({ delta, text }) => delta ?? text),
    events.map(joined),
  )
})

test('the 28th speaker is AB, also in events', () => {
  assert.equal(write({ shape: 'diarized_json' }).segments[0].speaker, 'AB')
  const events = writeOpenAi(transcript, { ...format, shape: 'diarized_json', stream: true })
  assert.match(events, /^data: \{"type":"transcript\.text\.segment".*"speaker":"AB"\}\n\ndata: /)
})

test('words of channels that talk at once are in the order of their starts', () => {
  const [first] = transcript.utterances
  const second = { ...first!, channel: 1, words: [word('So', 0.2, 1), word(' yes.', 0.5, 1)] }
  const written = writeOpenAi(
    { ...transcript, utterances: [first!, second] },
    { ...format, shape: 'verbose_json', words: true },
  )
  const { words } = JSON.parse(written) as { words: { word: string }[] }
  assert.deepEqual(
    words.map((one) => one.word),
    ['Hi', 'So', 'Bo.', 'yes.'],
  )
})

test('a recording without speech yields an empty text', () => {
  const nothing = { utterances: [], languages: [], duration: 3 }
  const written = JSON.parse(
    writeOpenAi(nothing, { ...format, shape: 'verbose_json', words: true }),
  )
  assert.deepEqual([written.text, written.words, written.segments], ['', [], []])
})
