import type { JSX } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { report } from '../components/notices.tsx'
import { texts } from '../texts.ts'
import type { Caption } from './live-session.ts'

const t = texts.live
const SIZES = [1.25, 1.75, 2.5, 3.5, 5]
/**
 * A user who has scrolled back further than this from the end wants to read there, so new captions
 * do not scroll the view.
 */
const NEAR_END_PX = 120

type CaptionsProps = {
  shown: readonly Caption[]
  /** The text that is shown while there are no captions. */
  waiting: string
  /** Whether the captions are for another screen: in large letters, as high as the page. */
  isScreen?: boolean
}

/** Shows captions in letters of a chosen size, also on the whole screen. */
export function Captions({ shown, waiting, isScreen = false }: CaptionsProps): JSX.Element {
  const [size, setSize] = useState(isScreen ? 3 : 1)
  const box = useRef<HTMLElement>(null)
  const lines = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  // It scrolls when captions change, before they are painted.
  useLayoutEffect(() => {
    if (isAtEnd.current) lines.current?.scrollTo(0, lines.current.scrollHeight)
  }, [shown, size])
  useEffect(() => {
    const toEnd = () => lines.current?.scrollTo(0, lines.current.scrollHeight)
    document.addEventListener('fullscreenchange', toEnd)
    return () => document.removeEventListener('fullscreenchange', toEnd)
  }, [])
  return (
    <section
      ref={box}
      class={isScreen ? 'card captions screen' : 'card captions'}
      aria-label={t.captions}
    >
      <div class="row end">
        <button type="button" onClick={() => setSize(Math.max(0, size - 1))}>
          {t.smaller}
        </button>
        <button type="button" onClick={() => setSize(Math.min(SIZES.length - 1, size + 1))}>
          {t.larger}
        </button>
        <button type="button" onClick={() => box.current?.requestFullscreen().catch(report)}>
          {t.full}
        </button>
      </div>
      <div
        ref={lines}
        class="lines"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it.
        tabIndex={0}
        role="log"
        aria-label={t.captions}
        style={{ fontSize: `${SIZES[size]}rem` }}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX
        }}
      >
        {shown.length === 0 && <p class="hint">{waiting}</p>}
        {shown.map(({ id, text, isFinal }) => (
          <p key={id} dir="auto" class={isFinal ? '' : 'partial'}>
            {text}
          </p>
        ))}
      </div>
    </section>
  )
}
