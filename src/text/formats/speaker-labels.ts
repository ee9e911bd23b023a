/** The speaker and the channel of an utterance. */
type SpeakerRef = { channel: number; speaker?: number | undefined }

/** Names that people gave to speakers and channels, by their number. */
export type VoiceNames = {
  speakerNames: ReadonlyMap<number, string>
  channelNames: ReadonlyMap<number, string>
}

/**
 * Returns a function that names the speaker of an utterance: by the name that a person assigned or,
 * counted from 1, as `Speaker 1` if there are several speakers, or `Channel 1` if there are several
 * channels.
 */
export function speakerLabelsOf(
  all: readonly SpeakerRef[],
  names?: VoiceNames,
): (speaker: SpeakerRef) => string | undefined {
  const speakers = new Set(all.flatMap(({ speaker }) => (speaker === undefined ? [] : [speaker])))
  const channels = new Set(all.map(({ channel }) => channel))
  return ({ speaker, channel }) => {
    const given =
      speaker === undefined ? names?.channelNames.get(channel) : names?.speakerNames.get(speaker)
    if (given !== undefined) return given
    if (speaker !== undefined) return speakers.size > 1 ? `Speaker ${speaker + 1}` : undefined
    return channels.size > 1 ? `Channel ${channel + 1}` : undefined
  }
}
