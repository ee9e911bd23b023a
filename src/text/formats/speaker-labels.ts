/** The speaker and the channel of an utterance. */
type SpeakerRef = { channel: number; speaker?: number | undefined }

/** Names that people gave to speakers and channels, by their number. */
export type VoiceNames = {
  speakerNames: ReadonlyMap<number, string>
  channelNames: ReadonlyMap<number, string>
}

/**
 * Returns a function that names the speaker of an utterance: by the name that a person assigned or,
 * counted from 1, as `Speaker 1` or, without a speaker, as `Channel 1`. An only voice has no label
 * but its name.
 */
export function speakerLabelsOf(
  all: readonly SpeakerRef[],
  names?: VoiceNames,
): (speaker: SpeakerRef) => string | undefined {
  // A person may have given some utterances of a channel to a speaker.
  const hasSeveral = new Set(all.map(labelOf)).size > 1
  return (voice) => {
    const { speaker, channel } = voice
    const given =
      speaker === undefined ? names?.channelNames.get(channel) : names?.speakerNames.get(speaker)
    return given ?? (hasSeveral ? labelOf(voice) : undefined)
  }
}

function labelOf({ speaker, channel }: SpeakerRef): string {
  return speaker === undefined ? `Channel ${channel + 1}` : `Speaker ${speaker + 1}`
}
