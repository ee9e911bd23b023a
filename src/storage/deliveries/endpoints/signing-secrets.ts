import { randomBytes, randomUUID } from 'node:crypto'
import type { Queryable } from '../../database/db.ts'
import type { SigningSecretRow } from '../../database/tables.ts'

/**
 * The owner of a secret: one endpoint or, without an endpoint, the account, for all endpoints that
 * have none.
 */
export type SecretOwner = { account: string; endpointId: string | null }

/** Creates a secret in the format of Standard Webhooks, with 256 random bits. */
export function generateSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`
}

/**
 * Returns the secrets that sign deliveries to an endpoint at `now`, newest first: its own, else the
 * account's. Returns none if none is stored; then the settings may have one.
 */
export async function signingSecrets(
  db: Queryable,
  { account, endpointId, now }: { account: string; endpointId: string; now: number },
): Promise<string[]> {
  const rows = await readValid(db, { account, endpointId, now })
  const ofEndpoint = rows.filter((row) => row.endpoint_id !== null)
  return (ofEndpoint.length > 0 ? ofEndpoint : rows).map(({ secret }) => secret)
}

/** Stores a secret that is valid until it is replaced. */
export async function addSecret(
  db: Queryable,
  { secret, at, ...owner }: SecretOwner & { secret: string; at: number },
): Promise<void> {
  await insertSecret(db, owner, { secret, created_at: at, expires_at: null })
}

/** How a secret is replaced. */
export type Rotation = SecretOwner & {
  secret: string
  at: number
  /** How long the earlier secrets keep signing beside the new one; 0 means not at all. */
  overlapMs: number
  /** The secrets of the settings, which sign until now if no stored secret does. */
  configured: readonly string[]
}

/**
 * Replaces the secret of an owner. The secrets that signed until now, wherever they came from, keep
 * signing for at most the overlap. Deletes expired secrets of the account. Returns whether any
 * secret signed before.
 */
export async function rotateSecret(db: Queryable, rotation: Rotation): Promise<boolean> {
  const { secret, at, overlapMs, configured, ...owner } = rotation
  const end = at + overlapMs
  return db.sql.transaction().execute(async (sql) => {
    const stored = await readValid({ sql }, { ...owner, now: at })
    if (!stored.some((row) => row.endpoint_id === owner.endpointId)) {
      // These are older than the new secret, because receivers see the newest first.
      const configuredSecrets = configured.map((secret) => ({
        secret,
        created_at: at - 1,
        expires_at: null,
      }))
      for (const row of stored.length > 0 ? stored : configuredSecrets)
        await insertSecret({ sql }, owner, row)
    }
    await sql
      .updateTable('signing_secrets')
      .set({ expires_at: end })
      .where('account', '=', owner.account)
      .where('endpoint_id', owner.endpointId === null ? 'is' : '=', owner.endpointId)
      .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', end)]))
      .execute()
    await sql
      .deleteFrom('signing_secrets')
      .where('account', '=', owner.account)
      .where('expires_at', '<=', at)
      .execute()
    await addSecret({ sql }, { ...owner, secret, at })
    return stored.length > 0 || configured.length > 0
  })
}

/** Returns the valid secrets of an endpoint and of its account, the newest of each first. */
function readValid(db: Queryable, { account, endpointId, now }: SecretOwner & { now: number }) {
  return (
    db.sql
      .selectFrom('signing_secrets')
      .select(['endpoint_id', 'secret', 'created_at', 'expires_at'])
      .where('account', '=', account)
      .where((where) =>
        where.or([where('endpoint_id', '=', endpointId), where('endpoint_id', 'is', null)]),
      )
      .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
      // The current one has no expiry; earlier ones expire in the order in which they were
      // replaced.
      .orderBy((order) => order('expires_at', 'is not', null))
      .orderBy('expires_at', 'desc')
      .orderBy('created_at', 'desc')
      .execute()
  )
}

async function insertSecret(
  db: Queryable,
  { account, endpointId }: SecretOwner,
  row: Pick<SigningSecretRow, 'secret' | 'created_at' | 'expires_at'>,
): Promise<void> {
  const { secret, created_at, expires_at } = row
  await db.sql
    .insertInto('signing_secrets')
    .values({
      id: randomUUID(),
      account,
      endpoint_id: endpointId,
      secret,
      created_at,
      expires_at,
    })
    .execute()
}
