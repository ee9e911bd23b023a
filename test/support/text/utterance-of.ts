import { viewUtterance } from '../../../src/transcript/utterance-view.ts'

/** Makes the view of an utterance in which each word lasts 0.4 s, with pauses of 0.1 s. */
export function utteranceOf(
  text: string,
  { start = 0, speaker, space = '', language = 'en' }: Given = {},
) {
  const words = text.split(' ').map((word, i) => {
    const at = start + i / 2
    return { text: word, start: at, end: at + 0.4, confidence: 0.5 }
  })
  const who = speaker === undefined ? {} : { speaker }
  const view = viewUtterance({ channel: 0, language, ...who, words })
  if (space === '') return view
  // As sessions store them.
  const [first, ...rest] = view.words
  return {
    ...view,
    text: ` ${view.text}`,
    words: [{ ...first!, word: ` ${first!.word}` }, ...rest],
  }
}

type Given = { start?: number; speaker?: number; space?: '' | ' '; language?: string }
