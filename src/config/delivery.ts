import type { EnvReader } from './env-reader.ts'

/** How callbacks and webhooks are delivered. */
export type DeliveryConfig = {
  /** Seconds within which a receiver must have answered. */
  timeout: number
  userAgent: string
  /** Prefixes under which the three headers of Standard Webhooks are sent again. */
  headerPrefixes: string[]
  /** Signing secrets, `whsec_` and base64, of accounts that have none in the store. */
  secrets: { account: string; secret: string }[]
  /** Receivers of all events of an account. */
  webhooks: { account: string; url: string }[]
  /** Maximum waiting events of one live session; beyond that, superseded events are dropped. */
  maxQueuedLive: number
  /** Days without a single success after which a receiver is disabled. */
  disableAfterDays: number
  /** Days that ended deliveries, with their attempts, are kept; 0 = as long as their job. */
  logDays: number
}

/** Reads the settings of callbacks and webhooks. */
export function readDelivery(read: EnvReader): DeliveryConfig {
  return {
    timeout: read.integer('CALLBACK_TIMEOUT_S', 10, { min: 1, max: 600 }),
    userAgent: read.headerValue('CALLBACK_USER_AGENT', 'steno'),
    headerPrefixes: read.headerPrefixes('WEBHOOK_HEADER_PREFIXES'),
    secrets: read.secrets('WEBHOOK_SECRETS'),
    webhooks: read.receivers('WEBHOOKS'),
    maxQueuedLive: read.integer('CALLBACK_MAX_QUEUED', 10_000, { min: 1 }),
    disableAfterDays: read.decimal('WEBHOOK_DISABLE_AFTER_DAYS', 5, { min: 0.01, max: 365 }),
    logDays: read.days('DELIVERY_LOG_DAYS', 30),
  }
}
