import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'
import type { ApiUtterance } from '../../api/api.ts'
import { route } from '../../app/route.ts'

/**
 * Shows the second in the address, which links of a search contain: the audio is set to it, and the
 * transcript scrolls to it.
 */
export function useJump(
  utterances: readonly ApiUtterance[],
  { audio, text }: Record<'audio' | 'text', RefObject<HTMLElement | null>>,
): void {
  const seconds = Number(route.value[2] ?? Number.NaN)
  useEffect(() => {
    if (!(seconds >= 0)) return
    if (audio.current) (audio.current as HTMLAudioElement).currentTime = seconds
    const at = utterances.findIndex(({ end }) => end > seconds)
    const row = text.current?.querySelectorAll('.utterance')[at]
    row?.scrollIntoView({ block: 'center' })
    row?.classList.add('target')
    return () => row?.classList.remove('target')
  }, [seconds, utterances, audio, text])
}
