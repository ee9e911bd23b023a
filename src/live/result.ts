import type { SoundFormat } from '../audio/sound-format.ts'
import { notConfiguredAddons } from '../text/not-configured.ts'
import { languagesBySpeech } from '../text/result.ts'
import { roundTo } from '../transcript/rounding.ts'
import { acknowledgement } from './acknowledgement.ts'
import { type AddOnParams, resultSwitches } from './add-ons.ts'
import { type ChunkRecord, readRecord } from './session-log.ts'
import type { UtteranceView } from './views.ts'

/** Reads the log of a session from its start, some lines at a time. */
export type ReadLog = () => AsyncGenerator<readonly string[]>

/** What a result tells besides what was said. */
export type ResultOptions = {
  /** Seconds. */
  duration: number
  channels: number
  work: number
  params: AddOnParams
}

/** The result of a session as JSON text (contract 4.1), without its messages. */
export type LiveResultText = { transcription: string; whole: string }

type Spoken = Pick<UtteranceView, 'start' | 'end' | 'channel' | 'language'> & {
  text: string
  json: string
}

/** Puts together what was said in a session. */
export async function buildResult(
  readLog: ReadLog,
  { duration, channels, work, params }: ResultOptions,
): Promise<LiveResultText> {
  const utterances = await readUtterances(readLog)
  const seconds = roundTo(duration, 6)
  const metadata = {
    audio_duration: seconds,
    number_of_distinct_channels: channels,
    billing_time: roundTo(seconds * channels, 6),
    transcription_time: roundTo(work, 6),
  }
  const head = {
    full_transcript: utterances.map(({ text }) => text).join(' '),
    languages: languagesBySpeech(utterances),
  }
  const views = utterances.map(({ json }) => json).join(',')
  const transcription = `${JSON.stringify(head).slice(0, -1)},"utterances":[${views}]}`
  const addOns = JSON.stringify(notConfiguredAddons(resultSwitches(params)))
  const others = addOns === '{}' ? '' : `,${addOns.slice(1, -1)}`
  const whole = `{"metadata":${JSON.stringify(metadata)},"transcription":${transcription}${others}}`
  return { transcription, whole }
}

async function readUtterances(readLog: ReadLog): Promise<Spoken[]> {
  const spoken: Spoken[] = []
  for await (const lines of readLog()) {
    for (const line of lines) {
      if (!line.startsWith('utterance ')) continue
      const record = readRecord(line)
      if (record.kind !== 'utterance' || record.utterance.text === null) continue
      const json = record.utterance.text
      const { start, end, channel, language, text } = JSON.parse(json) as UtteranceView
      spoken.push({ start, end, channel, language, text: text.trim(), json })
    }
  }
  return spoken.sort((a, b) => a.start - b.start || a.channel - b.channel)
}

/** Which messages are kept, and how chunks were acknowledged. */
export type MessagesOptions = {
  sessionId: string
  format: SoundFormat
  /** Whether acknowledgements were sent. */
  hasAcks: boolean
  /** Beyond this, acknowledgements are left out, oldest first, then other messages. */
  maxMessages: number
}

/** A result with all that was sent as its last key, in pieces: neither is ever in memory as a whole. */
export async function* withMessages(
  whole: string,
  readLog: ReadLog,
  options: MessagesOptions,
): AsyncGenerator<string> {
  yield `${whole.slice(0, -1)},"messages":[`
  const counted = await countMessages(readLog, options)
  let acksToDrop = Math.min(counted.acks, counted.acks + counted.others - options.maxMessages)
  let othersToDrop = counted.others - options.maxMessages
  let isFirst = true
  let before: ChunkRecord = { at: 0, received: 0, sound: 0 }
  for await (const lines of readLog()) {
    let text = ''
    for (const line of lines) {
      const record = readRecord(line)
      let message: string | undefined
      if (record.kind === 'chunk') {
        const { chunk } = record
        if (options.hasAcks && !chunk.isPart && acksToDrop-- <= 0) {
          message = acknowledgement({ before, chunk }, options)
        }
        before = chunk
      } else if (record.kind === 'message' && othersToDrop-- <= 0) {
        message = record.text
      }
      if (message === undefined) continue
      if (!isFirst) text += ','
      isFirst = false
      if (message.length < LONG) {
        text += JSON.stringify(message)
      } else {
        yield text
        text = ''
        yield* writeLong(message)
      }
    }
    yield text
  }
  yield ']}'
}

/** Longer texts are escaped piece by piece, so that the loop is free in between. */
const LONG = 64 * 1024

function* writeLong(text: string): Generator<string> {
  yield '"'
  for (let at = 0; at < text.length; at += LONG) {
    // A pair of surrogates that is cut in two is written as two escapes, which mean the same.
    yield JSON.stringify(text.slice(at, at + LONG)).slice(1, -1)
  }
  yield '"'
}

async function countMessages(
  readLog: ReadLog,
  { hasAcks }: MessagesOptions,
): Promise<{ acks: number; others: number }> {
  let [acks, others] = [0, 0]
  for await (const lines of readLog()) {
    for (const line of lines) {
      if (line.startsWith('message ')) others++
      else if (hasAcks && line.startsWith('chunk ')) acks++
    }
  }
  return { acks, others }
}
