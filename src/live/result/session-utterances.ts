import type { UtteranceView } from '../../transcript/utterance-view.ts'
import { type DiarizedRecord, type ReadLog, readRecords } from '../journal/log-records.ts'

/** An utterance of a session; `json` is its view as JSON text, `text` is trimmed. */
export type SessionUtterance = Pick<
  UtteranceView,
  'start' | 'end' | 'channel' | 'language' | 'speaker'
> & {
  text: string
  json: string
  /** The confidences of its words. */
  confidences: readonly number[]
}

/**
 * The utterances of a session, sorted by start, then channel, and the outcome of diarization, if it
 * was requested.
 */
export type SessionUtterances = {
  utterances: SessionUtterance[]
  diarized: DiarizedRecord | undefined
}

/**
 * Reads the utterances that were sent or, if diarization at the end succeeded, those that it made
 * of them.
 */
export async function readUtterances(readLog: ReadLog): Promise<SessionUtterances> {
  const sent: SessionUtterance[] = []
  const resplit: SessionUtterance[] = []
  let diarized: DiarizedRecord | undefined
  for await (const records of readRecords(readLog, ['utterance', 'spoken', 'diarized'])) {
    for (const record of records) {
      if (record.kind === 'diarized') diarized = record.diarized
      if (record.kind === 'spoken') resplit.push(readView(record.text))
      if (record.kind === 'utterance' && record.utterance.text !== null) {
        sent.push(readView(record.utterance.text))
      }
    }
  }
  // Earlier `spoken` records come from a process that was killed before it had logged all of them.
  const isResplit = diarized && diarized.error === null
  const utterances = isResplit ? resplit.slice(resplit.length - diarized!.count) : sent
  utterances.sort((a, b) => a.start - b.start || a.channel - b.channel)
  return { utterances, diarized }
}

function readView(json: string): SessionUtterance {
  const { start, end, channel, language, speaker, text, words } = JSON.parse(json) as UtteranceView
  const confidences = words.map(({ confidence }) => confidence)
  const utterance = { start, end, channel, language, text: text.trim(), json, confidences }
  return speaker === undefined ? utterance : { ...utterance, speaker }
}
