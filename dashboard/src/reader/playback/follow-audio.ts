import type { ApiUtterance } from '../../api/api.ts'

/**
 * Marks the current word while the audio plays and, if `scrolls`, keeps its utterance in view. It
 * changes classes directly, so that the words are not rendered several times a second. Returns a
 * function that stops this.
 */
export function followAudio(
  audio: HTMLAudioElement,
  list: HTMLElement,
  utterances: readonly ApiUtterance[],
  { scrolls }: { scrolls: boolean },
): () => void {
  let frame = 0
  let row: Element | undefined
  let word: Element | undefined

  function mark(): void {
    const at = audio.currentTime
    const index = lastStarted(utterances, at)
    const nextRow = index < 0 ? undefined : list.children[index]
    if (nextRow !== row) {
      row?.classList.remove('now')
      nextRow?.classList.add('now')
      row = nextRow
      if (scrolls && !audio.paused)
        nextRow?.scrollIntoView({ block: 'center', behavior: 'instant' })
    }
    const words = utterances[index]?.words ?? []
    const playedWord = nextRow?.querySelectorAll('[data-start]')[lastStarted(words, at)]
    if (playedWord === word) return
    word?.classList.remove('now')
    playedWord?.classList.add('now')
    word = playedWord
  }

  function run(): void {
    mark()
    if (!audio.paused) frame = requestAnimationFrame(run)
  }
  function start(): void {
    cancelAnimationFrame(frame)
    run()
  }
  const events = ['play', 'seeked', 'pause'] as const
  for (const name of events) audio.addEventListener(name, start)
  start()
  return () => {
    cancelAnimationFrame(frame)
    for (const name of events) audio.removeEventListener(name, start)
  }
}

/**
 * Returns the index of the last part that has begun at a time, or -1. Parts are ordered by start.
 */
function lastStarted(parts: readonly { start: number }[], at: number): number {
  let [low, high] = [0, parts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (parts[middle]!.start <= at) low = middle + 1
    else high = middle
  }
  return low - 1
}
