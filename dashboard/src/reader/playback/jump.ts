import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'
import type { ApiUtterance } from '../../api/api.ts'
import { route } from '../../app/route.ts'

/**
 * Jumps to the time in the address, which the links of search results have: the player moves there,
 * and the transcript scrolls to it.
 */
export function useJump(
  utterances: readonly ApiUtterance[],
  { audio, text }: Record<'audio' | 'text', RefObject<HTMLElement | null>>,
): void {
  const seconds = Number(route.value[2] ?? Number.NaN)
  useEffect(() => {
    if (!(seconds >= 0)) return
    if (audio.current) (audio.current as HTMLAudioElement).currentTime = seconds
    const index = utterances.findIndex(({ end }) => end > seconds)
    const row = text.current?.querySelectorAll('.utterance')[index]
    row?.scrollIntoView({ block: 'center' })
    row?.classList.add('target')
    return () => row?.classList.remove('target')
  }, [seconds, utterances, audio, text])
}
