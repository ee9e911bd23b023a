import { useMemo } from 'preact/hooks'
import type { ApiTranscriptEdits } from '../../../src/cli/client/api-types.ts'
import { texts } from '../texts.ts'
import type { ShownUtterance } from './editing/edits.ts'

const t = texts.reader

/** A speaker or, without diarization, a channel. */
export type NamedSpeaker = {
  kind: 'speaker' | 'channel'
  number: number
  /** The default name, such as `Speaker 1`. */
  label: string
  /** The name that a correction gave. */
  name: string
}

type SpeakerRef = Pick<ShownUtterance, 'speaker' | 'channel'>

/** The speakers of a transcript. */
export type Speakers = {
  voices: readonly NamedSpeaker[]
  /** Returns the name to show; empty if there is only one speaker, without a name. */
  speakerName: (utterance: SpeakerRef) => string
}

/** Finds the speakers of a corrected transcript, with their names. */
export function useSpeakers(
  utterances: readonly ShownUtterance[],
  state: ApiTranscriptEdits | undefined,
): Speakers {
  return useMemo(() => {
    const names = new Map(
      state?.edits.names.map((correction) => [nameKey(correction), correction.name]),
    )
    const found = new Map(utterances.map((utterance) => [speakerKey(utterance), utterance]))
    const voices = [...found]
      .map(([key, { speaker, channel, speaker_name }]): NamedSpeaker => {
        const name = state ? (names.get(key) ?? '') : (speaker_name ?? '')
        return speaker === undefined
          ? { kind: 'channel', number: channel, label: t.channel(channel + 1), name }
          : { kind: 'speaker', number: speaker, label: t.speaker(speaker + 1), name }
      })
      .sort((a, b) => a.kind.localeCompare(b.kind) || a.number - b.number)
    const shown = new Map(
      voices.map(({ kind, number, name, label }) => {
        return [`${kind} ${number}`, name || (voices.length > 1 ? label : '')]
      }),
    )
    return { voices, speakerName: (utterance) => shown.get(speakerKey(utterance)) ?? '' }
  }, [utterances, state])
}

function speakerKey({ speaker, channel }: SpeakerRef): string {
  return speaker === undefined ? `channel ${channel}` : `speaker ${speaker}`
}

function nameKey({ speaker, channel }: { speaker?: number; channel?: number }): string {
  return speaker === undefined ? `channel ${channel}` : `speaker ${speaker}`
}

/** Returns a number that no speaker has yet. */
export function newSpeaker(voices: readonly NamedSpeaker[]): number {
  return (
    Math.max(-1, ...voices.filter(({ kind }) => kind === 'speaker').map(({ number }) => number)) + 1
  )
}

/** Returns the name of a speaker, or the default name. */
export function speakerTitle({ name, label }: NamedSpeaker): string {
  return name || label
}
