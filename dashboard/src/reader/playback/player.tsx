import type { JSX, RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { apiAddress, type Job } from '../../api/api.ts'
import { texts } from '../../texts.ts'

const t = texts.reader
/**
 * The longest audio with a waveform: to draw one, the browser holds all samples, which take a
 * gigabyte for an hour.
 */
const MAX_WAVEFORM_SECONDS = 1800
const SPEEDS = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 2]

type PlayerProps = {
  address: string | undefined
  /** The duration in seconds, if it is known. */
  seconds: number | null | undefined
  audio: RefObject<HTMLAudioElement | null>
}

/**
 * Plays the audio at an address, with its waveform unless it is long; shows a notice if there is
 * none, or if it could not be loaded.
 */
export function Player({ address, seconds, audio }: PlayerProps): JSX.Element {
  const [state, setState] = useState<'ready' | 'failed' | 'missing'>('ready')
  const stoppedAt = useRef(0)
  if (address === undefined || state === 'missing')
    return <p class="hint screen-only">{t.noSound}</p>
  const fail = () => {
    stoppedAt.current = audio.current?.currentTime ?? 0
    setState('failed')
    void isDeleted(address).then((isGone) => isGone && setState('missing'))
  }
  const retry = () => {
    setState('ready')
    if (!audio.current) return
    audio.current.load()
    audio.current.currentTime = stoppedAt.current
  }
  return (
    <section class="player" aria-label={t.player}>
      {state === 'failed' && (
        <p class="row" role="alert">
          {t.soundFailed}
          <button type="button" onClick={retry}>
            {texts.retry}
          </button>
        </p>
      )}
      {state === 'ready' && (seconds ?? Number.POSITIVE_INFINITY) <= MAX_WAVEFORM_SECONDS && (
        <Waveform audio={audio} address={address} />
      )}
      <div class="row">
        {/* biome-ignore lint/a11y/useMediaCaption: the transcript follows it. */}
        <audio ref={audio} controls preload="metadata" src={address} onError={fail} />
        <label>
          {t.speed}
          <select
            onChange={(event) => {
              if (audio.current) audio.current.playbackRate = Number(event.currentTarget.value)
            }}
          >
            {SPEEDS.map((speed) => (
              <option key={speed} value={speed} selected={speed === 1}>
                {speed}×
              </option>
            ))}
          </select>
        </label>
      </div>
    </section>
  )
}

/** Returns whether the server says that there is no audio at an address. */
async function isDeleted(address: string): Promise<boolean> {
  const response = await fetch(address, { method: 'HEAD' }).catch(() => undefined)
  return response?.status === 404
}

/**
 * Returns the address of the audio: that of the redacted recording if the original was not kept.
 */
export function audioAddress({ id, kind, file, request_params }: Job): string | undefined {
  if (request_params?.pii_redaction === true) {
    return apiAddress(`v2/${kind}/${id}/file?redacted=true`)
  }
  return file ? apiAddress(`file/${file.id}`) : undefined
}

function Waveform({
  audio,
  address,
}: {
  audio: PlayerProps['audio']
  address: string
}): JSX.Element {
  const place = useRef<HTMLDivElement>(null)
  useEffect(() => {
    let destroy: (() => void) | undefined
    let isOver = false
    // The library is loaded separately, because the first page does not need it.
    import('wavesurfer.js').then(
      ({ default: WaveSurfer }) => {
        if (isOver || !place.current || !audio.current) return
        const style = getComputedStyle(place.current)
        const nonce = document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content
        const drawn = WaveSurfer.create({
          container: place.current,
          media: audio.current,
          height: 64,
          waveColor: style.getPropertyValue('--wave'),
          progressColor: style.getPropertyValue('--accent'),
          cursorColor: style.getPropertyValue('--text'),
          normalize: true,
          dragToSeek: true,
          ...(nonce && { cspNonce: nonce }),
        })
        // Without a waveform, the player still works.
        drawn.on('error', () => drawn.destroy())
        const theme = matchMedia('(prefers-color-scheme: dark)')
        const recolor = () => drawn.setOptions(colorsOf(style))
        theme.addEventListener('change', recolor)
        destroy = () => {
          theme.removeEventListener('change', recolor)
          drawn.destroy()
        }
      },
      () => {},
    )
    return () => {
      isOver = true
      destroy?.()
    }
  }, [audio, address])
  // The player below does the same for users of a keyboard or a screen reader.
  return <div ref={place} class="waveform" aria-hidden="true" />
}

/**
 * Returns the colors of the waveform, resolved for the theme, because a canvas cannot resolve them.
 */
function colorsOf({ color, accentColor, caretColor }: CSSStyleDeclaration) {
  return { waveColor: color, progressColor: accentColor, cursorColor: caretColor }
}
