import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { ApiCreatedWebhook } from '../../../src/cli/client/api-types.ts'
import { request } from '../api/api.ts'
import { BusyButton } from '../components/busy-button.tsx'
import { report } from '../components/notices.tsx'
import { OneTimeSecret } from '../components/one-time-secret.tsx'
import { texts } from '../texts.ts'

const t = texts.webhooks
type Event = keyof typeof t.events
const allEvents = Object.keys(t.events) as Event[]

/** Creates a webhook, and shows the secret that signs its events. */
export function NewWebhook({ onMade }: { onMade: () => Promise<void> }): JSX.Element {
  const [made, setMade] = useState<ApiCreatedWebhook>()
  const [isBusy, setBusy] = useState(false)
  const make = async (form: HTMLFormElement) => {
    const fields = new FormData(form)
    const name = String(fields.get('name')).trim()
    const events = fields.getAll('event')
    const json = {
      url: String(fields.get('url')).trim(),
      ...(name && { name }),
      ...(events.length < allEvents.length && { events }),
    }
    setBusy(true)
    try {
      setMade(await request<ApiCreatedWebhook>('v2/endpoints', { json }))
      form.reset()
      await onMade()
    } catch (error) {
      report(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <section class="card">
      <h2>{t.title}</h2>
      <p class="hint">{t.hint}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void make(event.currentTarget)
        }}
      >
        <div class="row">
          <label class="grow">
            {t.url}
            <input type="url" name="url" required pattern="https?://.+" placeholder="https://…" />
          </label>
          <label>
            {t.name}
            <input type="text" name="name" maxLength={100} />
          </label>
        </div>
        <EventChoice />
        <BusyButton type="submit" class="main" isBusy={isBusy}>
          {t.make}
        </BusyButton>
      </form>
      {made && <MadeWebhook made={made} />}
    </section>
  )
}

function EventChoice(): JSX.Element {
  return (
    <details class="spaced">
      <summary>{t.which}</summary>
      <fieldset class="grid">
        <legend class="visually-hidden">{t.which}</legend>
        {allEvents.map((event) => (
          <label key={event} class="choice">
            <input type="checkbox" name="event" value={event} defaultChecked />
            <span>{t.events[event]}</span>
          </label>
        ))}
      </fieldset>
    </details>
  )
}

function MadeWebhook({ made }: { made: ApiCreatedWebhook }): JSX.Element {
  return (
    <div role="status">
      <OneTimeSecret label={t.secret(made.name ?? made.url)} secret={made.secret} />
      <p class="hint">
        {t.verify} <a href="guide/webhooks.html">{texts.server.guide}</a>
      </p>
    </div>
  )
}
