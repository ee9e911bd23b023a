/**
 * New words that replace the words `from` to `to` (exclusive) of an utterance; an empty list
 * deletes them.
 */
export type WordReplacement = { from: number; to: number; words: readonly string[] }

/** The speaker of the words `from` to `to` (exclusive) of an utterance. */
export type Assignment = { from: number; to: number; speaker: number }

/** The speaker that has a name; without diarization, the channel. */
export type SpeakerOrChannel = { speaker: number } | { channel: number }

/**
 * A correction as it is stored. Indexes count from 0 in the machine's transcript, which never
 * changes. A replacement of words overrides all earlier ones in its range.
 */
export type EditChange =
  | {
      kind: 'words'
      utterance: number
      from: number
      to: number
      replaced: readonly WordReplacement[]
    }
  | ({ kind: 'speaker'; utterance: number } & Assignment)
  | { kind: 'join'; speaker: number; into: number }
  | ({ kind: 'name'; name: string } & SpeakerOrChannel)

/** The combined effect of all corrections of a transcript. */
export type EditState = {
  /** The replacements of each utterance, in order and without overlaps. */
  words: Map<number, WordReplacement[]>
  speakers: Map<number, Assignment[]>
  /** The speaker that each detected speaker was merged into. */
  joined: Map<number, number>
  speakerNames: Map<number, string>
  channelNames: Map<number, string>
}

/** Creates the state without any correction. */
export function createEditState(): EditState {
  return {
    words: new Map(),
    speakers: new Map(),
    joined: new Map(),
    speakerNames: new Map(),
    channelNames: new Map(),
  }
}

/** Adds a change to a state. */
export function applyChange(state: EditState, change: EditChange): void {
  if (change.kind === 'words') {
    const { utterance, replaced } = change
    const otherReplacements = outside(state.words.get(utterance) ?? [], change)
    putRanges(state.words, utterance, [...otherReplacements, ...replaced])
  } else if (change.kind === 'speaker') {
    const { utterance, from, to, speaker } = change
    const otherAssignments = outside(state.speakers.get(utterance) ?? [], change)
    putRanges(state.speakers, utterance, [...otherAssignments, { from, to, speaker }])
  } else if (change.kind === 'join') joinSpeakers(state, change)
  else if ('speaker' in change) setName(state.speakerNames, change.speaker, change.name)
  else setName(state.channelNames, change.channel, change.name)
}

/** Words of an utterance by index; `to` is exclusive. */
export type WordIndexRange = { from: number; to: number }

/** Returns the parts of the ranges outside the given one. */
function outside<T extends WordIndexRange>(
  ranges: readonly T[],
  { from, to }: WordIndexRange,
): T[] {
  return ranges.flatMap((range) => {
    if (range.to <= from || range.from >= to) return [range]
    const before = range.from < from ? [{ ...range, to: from }] : []
    return range.to > to ? [...before, { ...range, from: to }] : before
  })
}

function putRanges<T extends WordIndexRange>(
  all: Map<number, T[]>,
  utterance: number,
  ranges: T[],
): void {
  if (ranges.length === 0) all.delete(utterance)
  else
    all.set(
      utterance,
      ranges.sort((a, b) => a.from - b.from),
    )
}

/** Merges a speaker into another one, with the words that a person assigned to the speaker. */
function joinSpeakers(
  { speakers, joined, speakerNames }: EditState,
  { speaker, into }: { speaker: number; into: number },
): void {
  for (const [detected, current] of [...joined]) {
    if (current === speaker) joined.set(detected, into)
  }
  if (!joined.has(speaker)) joined.set(speaker, into)
  for (const [detected, current] of [...joined]) {
    if (current === detected) joined.delete(detected)
  }
  for (const [utterance, all] of speakers) {
    const moved = all.map((assignment) =>
      assignment.speaker === speaker ? { ...assignment, speaker: into } : assignment,
    )
    speakers.set(utterance, moved)
  }
  const name = speakerNames.get(speaker)
  if (name !== undefined && !speakerNames.has(into)) speakerNames.set(into, name)
  speakerNames.delete(speaker)
}

function setName(names: Map<number, string>, id: number, name: string): void {
  if (name === '') names.delete(id)
  else names.set(id, name)
}

/** Returns the speaker of a word of an utterance; `detectedSpeaker` is that of diarization. */
export function speakerAt(
  { speakers, joined }: Pick<EditState, 'speakers' | 'joined'>,
  { utterance, word }: { utterance: number; word: number },
  detectedSpeaker: number | undefined,
): number | undefined {
  const assignment = speakers.get(utterance)?.find(({ from, to }) => from <= word && word < to)
  if (assignment) return assignment.speaker
  return detectedSpeaker === undefined
    ? undefined
    : (joined.get(detectedSpeaker) ?? detectedSpeaker)
}
