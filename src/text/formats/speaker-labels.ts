/** The fields that say whose words an utterance holds. */
type SpeakerRef = { channel: number; speaker?: number | undefined }

/** Names that people gave to speakers and channels, by their number. */
export type VoiceNames = {
  speakerNames: ReadonlyMap<number, string>
  channelNames: ReadonlyMap<number, string>
}

/**
 * Returns a function that names whose words an utterance holds: by the name that a person gave,
 * else counted from 1 as people do: `Speaker 1` where there are several speakers, else `Channel 1`
 * where there are several channels.
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
