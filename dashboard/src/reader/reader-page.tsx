import type { JSX } from 'preact'
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { hasScope, type Job, RequestError, request } from '../api/api.ts'
import { onEvent } from '../api/events.ts'
import { inOrder } from '../api/in-order.ts'
import { formatDateTime, formatTime, isolate, languageName } from '../components/format.ts'
import { report } from '../components/notices.tsx'
import { WatchedCaptions } from '../live/watched-captions.tsx'
import { jobName } from '../recordings/list-state.ts'
import { texts } from '../texts.ts'
import { AddOns } from './add-ons/add-ons.tsx'
import { useEdits } from './editing/edits.ts'
import { History } from './editing/history.tsx'
import { SpeakerNames } from './editing/speaker-names.tsx'
import { Exports } from './exports.tsx'
import { Failure } from './failure.tsx'
import { useJump } from './playback/jump.ts'
import { audioAddress, Player } from './playback/player.tsx'
import { Share } from './sharing/share.tsx'
import { useSpeakers } from './speakers.ts'
import { Transcript } from './transcript.tsx'

const t = texts.reader

/** Shows one recording or live session: its audio, its transcript and the results of add-ons. */
export function ReaderPage({ kind, id }: { kind: Job['kind']; id: string }): JSX.Element {
  const [job, setJob] = useState<Job>()
  const [problem, setProblem] = useState('')
  const show = useMemo(() => inOrder<Job>(setJob), [])
  const load = useCallback(async () => {
    try {
      await show(request<Job>(`v2/${kind}/${id}`))
    } catch (error) {
      if (error instanceof RequestError && error.status === 404) setProblem(t.notFound)
      else report(error)
    }
  }, [show, kind, id])
  const mayChange = job === undefined || hasActiveJobs(job)
  useEffect(() => {
    void load()
    if (!mayChange) return
    return onEvent(() => void load())
  }, [load, mayChange])

  return (
    <>
      <p class="screen-only">
        <a href="#/">{t.back}</a>
      </p>
      {problem && <p role="alert">{problem}</p>}
      {!job && !problem && <p>{texts.loading}</p>}
      {job && <Reader job={job} reload={load} />}
    </>
  )
}

function hasActiveJobs({ status }: Job): boolean {
  return status === 'queued' || status === 'processing'
}

function Reader({ job, reload }: { job: Job; reload: () => Promise<void> }): JSX.Element {
  const name = jobName(job)
  useEffect(() => {
    document.title = `${isolate(name)} – ${texts.app}`
    return () => {
      document.title = texts.app
    }
  }, [name])
  return (
    <>
      <h1>
        <bdi>{name}</bdi>
      </h1>
      <Facts job={job} />
      {job.status === 'error' && <Failure job={job} />}
      {hasActiveJobs(job) && job.kind === 'live' && (
        <>
          <WatchedCaptions path={`v2/live/${job.id}/captions`} onEnd={() => void reload()} />
          {hasScope('write') && <Share kind="live" id={job.id} isLive />}
        </>
      )}
      {hasActiveJobs(job) && job.kind === 'pre-recorded' && (
        <p role="status">
          {texts.recordings.status[job.status]}. {t.running}
        </p>
      )}
      {job.status === 'done' && job.result && <Result job={job} reload={reload} />}
    </>
  )
}

function Result({ job, reload }: { job: Job; reload: () => Promise<void> }): JSX.Element {
  const audio = useRef<HTMLAudioElement>(null)
  const edits = useEdits(job)
  const { state, apply, drafts } = edits
  const speakers = useSpeakers(edits.utterances, state)
  const canEdit = hasScope('write') && state !== undefined
  const text = useRef<HTMLDivElement>(null)
  const details = useRef<HTMLElement>(null)
  useJump(edits.utterances, { audio, text })
  const play = useCallback((seconds: number) => {
    const element = audio.current
    // The player says that it could not load the audio.
    if (!element || element.error) return
    element.currentTime = seconds
    element.play().catch(report)
  }, [])
  return (
    <div class="reader">
      <div class="reader-text" ref={text}>
        <button
          type="button"
          class="narrow-only screen-only"
          onClick={() => {
            details.current?.scrollIntoView()
            details.current?.focus({ preventScroll: true })
          }}
        >
          {t.toDetails}
        </button>
        <Player address={audioAddress(job)} seconds={job.file?.audio_duration} audio={audio} />
        <Transcript {...{ edits, speakers, canEdit, audio, play, job }} />
      </div>
      <aside ref={details} tabIndex={-1} aria-label={t.details}>
        <Exports job={job} isEdited={state !== undefined && state.version > 0} />
        <SpeakerNames {...{ speakers, apply, drafts, canEdit }} />
        <History {...{ state, apply, canEdit }} />
        {hasScope('write') && <Share kind={job.kind} id={job.id} />}
        <AddOns job={job} play={play} reload={reload} />
      </aside>
    </div>
  )
}

function Facts({ job }: { job: Job }): JSX.Element {
  const seconds = job.file?.audio_duration ?? job.result?.metadata.audio_duration
  const languages = job.result?.transcription.languages ?? []
  const facts = [
    seconds != null && formatTime(seconds),
    languages.map(languageName).join(', '),
    formatDateTime(job.created_at),
  ]
  return <p class="hint">{facts.filter(Boolean).join(' · ')}</p>
}
