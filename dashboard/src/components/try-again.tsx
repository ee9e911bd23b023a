import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { createJob, type Job } from '../api/api.ts'
import { texts } from '../texts.ts'
import { BusyButton } from './busy-button.tsx'
import { report } from './notices.tsx'

type TryAgainProps = {
  job: Job
  /** What screen readers read, if the button alone does not show what it repeats. */
  label?: string
  isMain?: boolean
}

/** Requests the same again as a new job. The failed job stays, so that users can investigate it. */
export function TryAgain({ job, label, isMain = false }: TryAgainProps): JSX.Element | null {
  const [isBusy, setBusy] = useState(false)
  const { request_params: params, custom_metadata } = job
  if (!params || typeof params.audio_url !== 'string') return null
  const repeat = async () => {
    setBusy(true)
    try {
      const made = await createJob({ ...params, ...(custom_metadata && { custom_metadata }) })
      location.hash = `#/pre-recorded/${made.id}`
    } catch (error) {
      report(error)
      setBusy(false)
    }
  }
  return (
    <BusyButton
      class={isMain ? 'main' : undefined}
      aria-label={label}
      isBusy={isBusy}
      onClick={() => void repeat()}
    >
      {texts.retry}
    </BusyButton>
  )
}
