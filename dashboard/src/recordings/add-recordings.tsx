import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { ApiCapabilities } from '../../../src/cli/client/api-types.ts'
import { notify } from '../components/notices.tsx'
import { texts } from '../texts.ts'
import { filesIn, recordingsIn } from './dropped-files.ts'
import { options, toRequest } from './options.ts'
import { OptionsForm, unavailableSwitches } from './options-form.tsx'
import { addUploads } from './uploads.ts'

const t = texts.recordings
const NOTICE_MS = 8000

/** Takes files, folders and addresses, and the options for them. */
export function AddRecordings({
  capabilities,
}: {
  capabilities: ApiCapabilities | undefined
}): JSX.Element {
  const [isOver, setOver] = useState(false)
  const add = (sources: readonly (File | string)[]) => {
    if (sources.length === 0) notify(t.emptyFolder, { kind: 'error', ms: NOTICE_MS })
    addUploads(
      sources,
      toRequest(options.value, { unavailable: unavailableSwitches(capabilities) }),
    )
  }
  return (
    <section class="card" aria-label={t.chooseFiles}>
      <OptionsForm capabilities={capabilities} />
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons in it do the same. */}
      <div
        class={isOver ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={async (event) => {
          event.preventDefault()
          setOver(false)
          if (event.dataTransfer) add(await filesIn(event.dataTransfer))
        }}
      >
        <p>{t.drop}</p>
        <div class="row center">
          <FileButton label={t.chooseFiles} onFiles={add} />
          <FileButton label={t.chooseFolder} onFiles={add} isFolder />
        </div>
      </div>
      <AddressForm onAddress={(address) => add([address])} />
    </section>
  )
}

type FileButtonProps = { label: string; onFiles: (files: File[]) => void; isFolder?: boolean }

function FileButton({ label, onFiles, isFolder = false }: FileButtonProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <button type="button" class={isFolder ? '' : 'main'} onClick={() => input.current?.click()}>
        {label}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept={isFolder ? undefined : 'audio/*,video/*,.opus,.mka,.mkv,.flac'}
        {...(isFolder && { webkitdirectory: true })}
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])]
          onFiles(isFolder ? recordingsIn(files) : files)
          event.currentTarget.value = ''
        }}
      />
    </>
  )
}

function AddressForm({ onAddress }: { onAddress: (address: string) => void }): JSX.Element {
  const [address, setAddress] = useState('')
  return (
    <form
      class="row address"
      onSubmit={(event) => {
        event.preventDefault()
        onAddress(address.trim())
        setAddress('')
        // An empty field is not an error right after a successful submission.
        event.currentTarget.reset()
      }}
    >
      <input
        type="url"
        required
        aria-label={t.address}
        placeholder={`${t.address} (https://…)`}
        value={address}
        onInput={(event) => setAddress(event.currentTarget.value)}
      />
      <button type="submit">{t.fetch}</button>
    </form>
  )
}
