import { createHmac } from 'node:crypto'
import type { DeliveryBody } from '../../storage/deliveries/delivery-body.ts'
import { bodyChunks } from './body-chunks.ts'

/** What one attempt is signed from. */
export type ToSign = {
  /** The `webhook-id`: the same on every attempt. */
  id: string
  /** The time of the attempt, in milliseconds since 1970. */
  at: number
  body: DeliveryBody
  /** All valid secrets, `whsec_` and base64; without one nothing is signed. */
  secrets: readonly string[]
}

/**
 * Returns the headers of Standard Webhooks 1.0 (standardwebhooks.com): id, Unix seconds, and a
 * signature per secret, so that a receiver needs to know only one of them. `prefixes` name further
 * sets of the same headers.
 */
export async function signedHeaders(
  toSign: ToSign,
  { prefixes }: { prefixes: readonly string[] },
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(toSign.at / 1000))
  const signatures = await sign(toSign, timestamp)
  const headers: Record<string, string> = {}
  for (const prefix of ['webhook', ...prefixes]) {
    headers[`${prefix}-id`] = toSign.id
    headers[`${prefix}-timestamp`] = timestamp
    if (signatures) headers[`${prefix}-signature`] = signatures
  }
  return headers
}

async function sign({ id, body, secrets }: ToSign, timestamp: string): Promise<string> {
  if (secrets.length === 0) return ''
  const hashes = secrets.map((secret) => createHmac('sha256', signingKey(secret)))
  for (const hash of hashes) hash.update(`${id}.${timestamp}.`)
  for await (const chunk of bodyChunks(body)) {
    for (const hash of hashes) hash.update(chunk)
  }
  return hashes.map((hash) => `v1,${hash.digest('base64')}`).join(' ')
}

function signingKey(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
}
