import type { Utterance } from '../../transcript/transcript.ts'

/** The fields that say whose words an utterance holds. */
type Whose = { channel: number; speaker?: number | undefined }

/**
 * Returns a function that names whose words an utterance holds, counted from 1 as people do:
 * `Speaker 1` where there are several speakers, else `Channel 1` where there are several channels.
 */
export function voicesOf(all: readonly Whose[]): (one: Whose) => string | undefined {
  const speakers = new Set(all.flatMap(({ speaker }) => (speaker === undefined ? [] : [speaker])))
  const channels = new Set(all.map(({ channel }) => channel))
  return ({ speaker, channel }) => {
    if (speaker !== undefined) return speakers.size > 1 ? `Speaker ${speaker + 1}` : undefined
    return channels.size > 1 ? `Channel ${channel + 1}` : undefined
  }
}

/** Puts the name before the first word of each utterance where it changes: `Speaker 1: Hello`. */
export function withVoices(utterances: readonly Utterance[]): Utterance[] {
  const voiceOf = voicesOf(utterances)
  let before: string | undefined
  return utterances.map((utterance) => {
    const voice = voiceOf(utterance)
    const [first, ...rest] = utterance.words
    if (!first || voice === undefined || voice === before) return utterance
    before = voice
    return { ...utterance, words: [{ ...first, text: `${voice}: ${first.text}` }, ...rest] }
  })
}
