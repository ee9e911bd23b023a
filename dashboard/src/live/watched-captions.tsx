import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { apiAddress } from '../api/api.ts'
import { texts } from '../texts.ts'
import { Captions } from './captions.tsx'
import { addCaption, type Caption } from './live-session.ts'

const t = texts.live

type WatchedProps = {
  /** Where the server sends the captions. */
  path: string
  /** Called when the session has ended, or may no longer be watched. */
  onEnd: () => void
  isScreen?: boolean
}

/** Shows the captions of a session to which another page or program sends audio. */
export function WatchedCaptions({ path, onEnd, isScreen = false }: WatchedProps): JSX.Element {
  const [shown, setShown] = useState<readonly Caption[]>([])
  const [isLost, setLost] = useState(false)
  const end = useRef(onEnd)
  end.current = onEnd
  useEffect(() => {
    const source = new EventSource(apiAddress(path))
    source.addEventListener('open', () => setLost(false))
    source.addEventListener('caption', ({ data }) => {
      const { id, text, is_final } = JSON.parse(data as string) as {
        id: string
        text: string
        is_final: boolean
      }
      setShown((before) => addCaption(before, { id, text, isFinal: is_final }))
    })
    source.addEventListener('end', () => {
      source.close()
      end.current()
    })
    source.addEventListener('error', () => {
      // The stream is refused permanently: the link or the key has expired.
      if (source.readyState === EventSource.CLOSED) end.current()
      else setLost(true)
    })
    return () => source.close()
  }, [path])
  return (
    <>
      <p role="status">{isLost ? t.reconnecting : t.running}</p>
      <Captions shown={shown} waiting={t.nothingYet} isScreen={isScreen} />
    </>
  )
}
