import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiCapabilities } from '../../../src/cli/client/api-types.ts'
import { hasScope, request } from '../api/api.ts'
import { onEvent } from '../api/events.ts'
import { JobFilterFields } from '../components/job-filter.tsx'
import { report } from '../components/notices.tsx'
import { texts } from '../texts.ts'
import { AddRecordings } from './add-recordings.tsx'
import {
  type Filter,
  filter,
  hasActiveJobs,
  isFiltered,
  loadedNumber,
  noFilter,
  page,
  pageNumber,
  reloadList,
} from './list-state.ts'
import { RecordingList } from './recording-list.tsx'

const t = texts.recordings
/**
 * How often the list is reloaded: events report starts and ends, but neither progress nor a lost
 * connection.
 */
const RELOAD_MS = { moving: 2500, still: 60_000 }

/** Shows the form that adds recordings, and the list of all recordings. */
export function RecordingsPage(): JSX.Element {
  const [capabilities, setCapabilities] = useState<ApiCapabilities>()
  useEffect(() => {
    request<ApiCapabilities>('v2/capabilities').then(setCapabilities, report)
  }, [])
  useEffect(watchList, [])
  return (
    <>
      <h1>{t.title}</h1>
      {hasScope('write') ? <AddRecordings capabilities={capabilities} /> : <p>{t.readOnly}</p>}
      {(isFiltered() || (page.value?.items.length ?? 0) > 0) && <Filters />}
      {filter.value.status === 'error' && (
        <p>
          <a href="#/failures">{texts.failures.link}</a>
        </p>
      )}
      <RecordingList />
      <Pages />
    </>
  )
}

/** Reloads the list at intervals while the page is visible; returns a function that stops this. */
function watchList(): () => void {
  let timer = 0
  let isOver = false
  const load = async () => {
    if (document.visibilityState === 'visible') await reloadList().catch(report)
    if (!isOver)
      timer = window.setTimeout(load, hasActiveJobs() ? RELOAD_MS.moving : RELOAD_MS.still)
  }
  void load()
  const stopEvents = onEvent(() => reloadList().catch(report))
  const unsubscribe = [filter, pageNumber].map((state) => {
    let isFirst = true
    return state.subscribe(() => {
      if (!isFirst) reloadList().catch(report)
      isFirst = false
    })
  })
  return () => {
    isOver = true
    clearTimeout(timer)
    stopEvents()
    for (const stop of unsubscribe) stop()
  }
}

function Filters(): JSX.Element {
  const set = (changed: Partial<Filter>) => {
    pageNumber.value = 0
    filter.value = { ...filter.value, ...changed }
  }
  const { status } = filter.value
  return (
    <form
      class="row filters"
      onSubmit={(event) => event.preventDefault()}
      onReset={() => set(noFilter)}
    >
      <label>
        {t.filter}
        <select value={status} onChange={(event) => set({ status: event.currentTarget.value })}>
          <option value="">{t.all}</option>
          {Object.entries(t.status).map(([name, label]) => (
            <option key={name} value={name}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <JobFilterFields filter={filter.value} set={set} />
      {isFiltered() && <button type="reset">{t.showAll}</button>}
    </form>
  )
}

/** The buttons are never disabled: a disabled button loses the focus of the keyboard. */
function Pages(): JSX.Element | null {
  const hasNext = Boolean(page.value?.next)
  if (pageNumber.value === 0 && loadedNumber.value === 0 && !hasNext) return null
  return (
    <nav class="row center" aria-label={t.list}>
      <button
        type="button"
        aria-disabled={pageNumber.value === 0}
        onClick={() => {
          if (pageNumber.value > 0) pageNumber.value--
        }}
      >
        {t.newer}
      </button>
      <span>{t.page(pageNumber.value + 1)}</span>
      <button
        type="button"
        aria-disabled={!hasNext}
        onClick={() => {
          if (hasNext) pageNumber.value++
        }}
      >
        {t.older}
      </button>
    </nav>
  )
}
