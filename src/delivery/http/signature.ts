import { createHmac } from 'node:crypto'
import type { DeliveryBody } from '../../storage/deliveries/delivery-body.ts'
import { bodyChunks } from './body-chunks.ts'

/** The input of the signatures of an attempt. */
export type SignatureInput = {
  /** The `webhook-id`: the same on every attempt. */
  id: string
  /** The time of the attempt, in milliseconds since 1970. */
  at: number
  body: DeliveryBody
  /** All valid secrets, each `whsec_` followed by base64; without any, nothing is signed. */
  secrets: readonly string[]
}

/**
 * Returns the headers of Standard Webhooks 1.0 (standardwebhooks.com): id, Unix seconds, and one
 * signature per secret, so that a receiver needs only one of them. For each of `prefixes`, the same
 * headers are repeated with that prefix.
 */
export async function signedHeaders(
  input: SignatureInput,
  { prefixes }: { prefixes: readonly string[] },
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(input.at / 1000))
  const signatures = await sign(input, timestamp)
  const headers: Record<string, string> = {}
  for (const prefix of ['webhook', ...prefixes]) {
    headers[`${prefix}-id`] = input.id
    headers[`${prefix}-timestamp`] = timestamp
    if (signatures) headers[`${prefix}-signature`] = signatures
  }
  return headers
}

async function sign({ id, body, secrets }: SignatureInput, timestamp: string): Promise<string> {
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
