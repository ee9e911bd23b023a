import { signal } from '@preact/signals'
import type { JSX } from 'preact'
import { texts } from '../texts.ts'

type Notice = { id: number; text: string; kind: 'plain' | 'error'; undo?: () => void }

const notices = signal<Notice[]>([])
/** How long a notice stays, unless its caller says otherwise. */
const NOTICE_MS = 12_000
let lastId = 0

/**
 * Shows a short text at the edge of the page for some seconds; returns a function that removes it.
 */
export function notify(
  text: string,
  {
    kind = 'plain',
    ms = NOTICE_MS,
    undo,
  }: { kind?: Notice['kind']; ms?: number; undo?: () => void },
): () => void {
  const id = ++lastId
  notices.value = [...notices.value, { id, text, kind, ...(undo && { undo }) }]
  const remove = () => {
    notices.value = notices.value.filter((notice) => notice.id !== id)
  }
  setTimeout(remove, ms)
  return remove
}

/** Shows an error, unless it is the cancellation of the user. */
export function report(error: unknown): void {
  if (error instanceof DOMException && error.name === 'AbortError') return
  const text = error instanceof Error ? error.message : texts.errors.unknown
  if (notices.value.some((notice) => notice.text === text)) return
  notify(text, { kind: 'error' })
}

export function Notices(): JSX.Element {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, text, kind, undo }) => (
        <p key={id} class={`notice ${kind}`}>
          <span dir="auto">{text}</span>
          {undo && (
            <button type="button" onClick={undo}>
              {texts.undo}
            </button>
          )}
        </p>
      ))}
    </div>
  )
}
