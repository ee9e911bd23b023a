/** The emotions of a sentence, besides neutral. */
export const emotions = [
  'adoration',
  'amusement',
  'anger',
  'awe',
  'confusion',
  'contempt',
  'contentment',
  'desire',
  'disappointment',
  'disgust',
  'distress',
  'ecstatic',
  'elation',
  'embarrassment',
  'fear',
  'interest',
  'pain',
  'realization',
  'relief',
  'sadness',
  'negative_surprise',
  'positive_surprise',
  'sympathy',
  'triumph',
  'neutral',
] as const

/** One of the 25 emotions of the API. */
export type Emotion = (typeof emotions)[number]

/** Returns whether `name` is one of the emotions. */
export function isEmotion(name: string): name is Emotion {
  return (emotions as readonly string[]).includes(name)
}
