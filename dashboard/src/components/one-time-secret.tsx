import type { JSX } from 'preact'
import { texts } from '../texts.ts'
import { notify, report } from './notices.tsx'

const NOTICE_MS = 4000

/** Shows a link or a key that the server does not store, so that the user must copy it now. */
export function OneTimeSecret({ label, secret }: { label: string; secret: string }): JSX.Element {
  const copy = () => {
    navigator.clipboard
      .writeText(secret)
      .then(() => notify(texts.copied, { ms: NOTICE_MS }), report)
  }
  return (
    <div class="new-link">
      <label class="field">
        {label}
        <input
          type="text"
          readOnly
          value={secret}
          onFocus={(event) => event.currentTarget.select()}
        />
      </label>
      {/* Only pages over HTTPS, or on this machine, may write to the clipboard. */}
      {'clipboard' in navigator && (
        <button type="button" onClick={copy}>
          {texts.copy}
        </button>
      )}
    </div>
  )
}
