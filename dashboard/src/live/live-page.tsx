import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiCapabilities } from '../../../src/cli/server/api-types.ts'
import { may, request } from '../api.ts'
import { languageName } from '../parts/format.ts'
import { report } from '../parts/notices.tsx'
import { texts } from '../texts.ts'
import type { Source } from './capture.ts'
import { captions, liveState, sessionId, startSession, stopSession } from './live-session.ts'

const t = texts.live
const SIZES = [1.25, 1.75, 2.5, 3.5, 5]

/** Captions of what a microphone or a tab hears. */
export function LivePage(): JSX.Element {
  const [languages, setLanguages] = useState<string[]>([])
  useEffect(() => {
    request<ApiCapabilities>('v2/capabilities').then(({ recognition }) => {
      setLanguages(recognition.languages)
    }, report)
  }, [])
  return (
    <>
      <h1>{t.title}</h1>
      {may('live') ? <Controls languages={languages} /> : <p>{t.notAllowed}</p>}
      <Captions />
    </>
  )
}

function Controls({ languages }: { languages: string[] }): JSX.Element {
  const [source, setSource] = useState<Source>('microphone')
  const [language, setLanguage] = useState('')
  const state = liveState.value
  const isIdle = state === 'idle' || state === 'ended'
  const stateTexts = { ...t, idle: '', ended: '' }
  return (
    <section class="card row">
      <label>
        {t.source}
        <select
          disabled={!isIdle}
          value={source}
          onChange={(event) => setSource(event.currentTarget.value as Source)}
        >
          {Object.entries(t.sources).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <label>
        {texts.options.language}
        <select
          disabled={!isIdle}
          value={language}
          onChange={(event) => setLanguage(event.currentTarget.value)}
        >
          <option value="">{texts.options.detect}</option>
          {languages.map((code) => (
            <option key={code} value={code}>
              {languageName(code)}
            </option>
          ))}
        </select>
      </label>
      {isIdle ? (
        <button
          type="button"
          class="main"
          onClick={() => startSession({ source, language }).catch(report)}
        >
          {t.start}
        </button>
      ) : (
        <button type="button" class="main" disabled={state !== 'listening'} onClick={stopSession}>
          {t.stop}
        </button>
      )}
      <span role="status">{stateTexts[state]}</span>
      {state === 'ended' && sessionId.value && <a href={`#/live/${sessionId.value}`}>{t.open}</a>}
    </section>
  )
}

function Captions(): JSX.Element {
  const [size, setSize] = useState(1)
  const box = useRef<HTMLElement>(null)
  const shown = captions.value
  // It scrolls when captions change.
  useEffect(() => {
    const lines = box.current?.querySelector('.lines')
    lines?.scrollTo(0, lines.scrollHeight)
  }, [shown, size])
  return (
    <section ref={box} class="card captions" aria-label={t.captions}>
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
        class="lines"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it.
        tabIndex={0}
        role="log"
        aria-label={t.captions}
        style={{ fontSize: `${SIZES[size]}rem` }}
      >
        {shown.length === 0 && <p class="hint">{t.waiting}</p>}
        {shown.map(({ id, text, isFinal }) => (
          <p key={id} dir="auto" class={isFinal ? '' : 'partial'}>
            {text}
          </p>
        ))}
      </div>
    </section>
  )
}
