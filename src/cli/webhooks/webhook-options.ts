import { type WebhookEvent, webhookEvents } from '../../storage/deliveries/queue-deliveries.ts'
import { UsageError } from '../terminal/arguments.ts'

/** Reads the address of a webhook, and returns its normalized form. */
export function readWebhookUrl(text: string): string {
  const url = /^https?:\/\//i.test(text) ? URL.parse(text) : null
  if (url && !text.includes('#')) return url.href
  throw new UsageError('the address must be an absolute http or https URL without a fragment')
}

/** Reads a list of events; null, which means all of them, when absent. */
export function parseEventNames(text: string | undefined): readonly WebhookEvent[] | null {
  if (text === undefined) return null
  const eventNames = text.split(',').map((part) => part.trim())
  const unknown = eventNames.find(
    (eventName) => !webhookEvents.some((event) => event === eventName),
  )
  if (unknown === undefined) return webhookEvents.filter((event) => eventNames.includes(event))
  throw new UsageError(`--events must be some of ${webhookEvents.join(',')}; not '${unknown}'`)
}
