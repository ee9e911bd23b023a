import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiCapabilities } from '../../../src/cli/client/api-types.ts'
import { hasScope, request } from '../api/api.ts'
import { BusyButton } from '../components/busy-button.tsx'
import { languageName } from '../components/format.ts'
import { report } from '../components/notices.tsx'
import { Share } from '../reader/sharing/share.tsx'
import { texts } from '../texts.ts'
import { Captions } from './captions.tsx'
import type { Source } from './capture.ts'
import {
  captions,
  liveState,
  sessionId,
  startSession,
  stopSession,
  stopWaiting,
} from './live-session.ts'
import { RunningSessions } from './running-sessions.tsx'

const t = texts.live

/** Shows captions of the audio of a microphone or a tab. */
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
      {hasScope('live') ? <Controls languages={languages} /> : <p>{t.notAllowed}</p>}
      <Captions shown={captions.value} waiting={t.waiting} />
      {sessionId.value && hasScope('write') && (
        <Share
          key={sessionId.value}
          kind="live"
          id={sessionId.value}
          isLive={liveState.value !== 'ended'}
        />
      )}
      <RunningSessions without={sessionId.value} />
    </>
  )
}

function Controls({ languages }: { languages: string[] }): JSX.Element {
  const [source, setSource] = useState<Source>('microphone')
  const [language, setLanguage] = useState('')
  const state = liveState.value
  const isIdle = state === 'idle' || state === 'unstarted' || state === 'ended'
  const start = () => startSession({ source, language }).catch(report)
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
      <BusyButton
        class="main"
        isBusy={!isIdle && state !== 'listening' && state !== 'reconnecting'}
        onClick={isIdle ? start : stopSession}
      >
        {state === 'unstarted' ? texts.retry : isIdle ? t.start : t.stop}
      </BusyButton>
      <span role="status">{stateTexts[state]}</span>
      {state === 'unanswered' && (
        <button type="button" onClick={stopWaiting}>
          {t.stopWaiting}
        </button>
      )}
      {state === 'ended' && sessionId.value && <a href={`#/live/${sessionId.value}`}>{t.open}</a>}
    </section>
  )
}
