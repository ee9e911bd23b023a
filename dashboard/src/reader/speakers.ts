import { useMemo } from 'preact/hooks'
import type { ApiTranscriptEdits } from '../../../src/cli/server/api-types.ts'
import { texts } from '../texts.ts'
import type { ShownUtterance } from './editing/edits.ts'

const t = texts.reader

/** A speaker, or where nobody told speakers apart a channel. */
export type NamedSpeaker = {
  kind: 'speaker' | 'channel'
  number: number
  /** Such as `Speaker 1`. */
  label: string
  /** The name that somebody gave. */
  name: string
}

type SpeakerRef = Pick<ShownUtterance, 'speaker' | 'channel'>

/** Who speaks in a transcript. */
export type Speakers = {
  voices: readonly NamedSpeaker[]
  /** Empty where there is only one, without a name. */
  nameOf: (utterance: SpeakerRef) => string
}

/** Finds the speakers of a corrected transcript, with their names. */
export function useSpeakers(
  utterances: readonly ShownUtterance[],
  state: ApiTranscriptEdits | undefined,
): Speakers {
  return useMemo(() => {
    const names = new Map(state?.edits.names.map((one) => [keyOfName(one), one.name]))
    const found = new Map(utterances.map((one) => [keyOf(one), one]))
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
    return { voices, nameOf: (utterance) => shown.get(keyOf(utterance)) ?? '' }
  }, [utterances, state])
}

function keyOf({ speaker, channel }: SpeakerRef): string {
  return speaker === undefined ? `channel ${channel}` : `speaker ${speaker}`
}

function keyOfName({ speaker, channel }: { speaker?: number; channel?: number }): string {
  return speaker === undefined ? `channel ${channel}` : `speaker ${speaker}`
}

/** Returns the number of a speaker who is not there yet. */
export function newSpeaker(voices: readonly NamedSpeaker[]): number {
  return (
    Math.max(-1, ...voices.filter((one) => one.kind === 'speaker').map((one) => one.number)) + 1
  )
}

/** Returns what a voice is called. */
export function titleOf({ name, label }: NamedSpeaker): string {
  return name || label
}
