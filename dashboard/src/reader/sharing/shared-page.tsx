import type { JSX } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ApiSharedRecording } from '../../../../src/cli/client/api-types.ts'
import { apiAddress, type RequestError, request } from '../../api/api.ts'
import { formatDateTime, formatTime } from '../../components/format.ts'
import { report } from '../../components/notices.tsx'
import { WatchedCaptions } from '../../live/watched-captions.tsx'
import { texts } from '../../texts.ts'
import { readOnly, type ShownUtterance } from '../editing/edits.ts'
import { Player } from '../playback/player.tsx'
import { useSpeakers } from '../speakers.ts'
import { Transcript } from '../transcript.tsx'

const t = texts.share

/** The page that a link opens: one recording with its transcript and audio. */
export function SharedPage({ secret }: { secret: string }): JSX.Element {
  const path = `v2/shared/${encodeURIComponent(secret)}`
  const [shared, setShared] = useState<ApiSharedRecording>()
  const [problem, setProblem] = useState<RequestError>()
  const load = useCallback(() => {
    setProblem(undefined)
    request<ApiSharedRecording>(path).then(setShared, (error: unknown) => {
      setShared(undefined)
      setProblem(error as RequestError)
    })
  }, [path])
  useEffect(load, [load])
  return (
    <>
      {problem && <Problem problem={problem} retry={load} />}
      {!shared && !problem && <p>{texts.loading}</p>}
      {shared?.is_live && (
        <>
          <h1>{texts.live.title}</h1>
          <WatchedCaptions path={`${path}/captions`} onEnd={load} isScreen />
        </>
      )}
      {shared && !shared.is_live && <Shared shared={shared} address={apiAddress(`${path}/file`)} />}
    </>
  )
}

/** Says why the recording is not shown. A link that has ended is not tried again. */
function Problem({ problem, retry }: { problem: RequestError; retry: () => void }): JSX.Element {
  if (problem.status === 404) return <p role="alert">{t.ended}</p>
  return (
    <>
      <p role="alert">
        {t.notShown} {problem.message}
      </p>
      <button type="button" onClick={retry}>
        {texts.retry}
      </button>
    </>
  )
}

type SharedProps = { shared: ApiSharedRecording; address: string }

function Shared({ shared, address }: SharedProps): JSX.Element {
  const { name, kind, created_at, audio_duration, has_audio, expires_at, transcript } = shared
  const title = name ?? texts.recordings.kind[kind]
  useEffect(() => {
    document.title = `${title} – ${texts.app}`
  }, [title])
  const audio = useRef<HTMLAudioElement>(null)
  const play = useCallback((seconds: number) => {
    const element = audio.current
    if (!element || element.error) return
    element.currentTime = seconds
    element.play().catch(report)
  }, [])
  const edits = useMemo(() => readOnly(transcript.utterances as ShownUtterance[]), [transcript])
  const speakers = useSpeakers(edits.utterances, undefined)
  const facts = [
    audio_duration !== null && formatTime(audio_duration),
    formatDateTime(created_at),
    t.worksUntil(formatDateTime(expires_at)),
  ]
  return (
    <>
      <h1>
        <bdi>{title}</bdi>
      </h1>
      <p class="hint">{facts.filter(Boolean).join(' · ')}</p>
      {has_audio && <Player address={address} seconds={audio_duration} audio={audio} />}
      <Transcript {...{ edits, speakers, canEdit: false, audio, play }} />
    </>
  )
}
