import { readConfig } from '../../config/config.ts'
import { recordAudit } from '../../storage/accounts/audit-log.ts'
import type { Db } from '../../storage/database/db.ts'
import { failEndpointDeliveries } from '../../storage/deliveries/deliveries.ts'
import { removeEndpoint } from '../../storage/deliveries/endpoints/endpoint-removal.ts'
import {
  disableEndpoint,
  type Endpoint,
  enableEndpoint,
  findEndpoint,
} from '../../storage/deliveries/endpoints/endpoints.ts'
import { disabledReason } from '../../storage/deliveries/queue-deliveries.ts'
import { commandActor } from '../accounts/command-actor.ts'
import { openDatabase } from '../server/open-database.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Changes an endpoint and returns a description of the change. */
type EndpointChange = (db: Pick<Db, 'sql' | 'dialect'>, endpoint: Endpoint) => Promise<string>

/** Runs `steno webhooks enable`. */
export function enableWebhooks(args: string[], terminal: Terminal): Promise<number> {
  return changeAll(args, terminal, async (db, { id }) => {
    await enableEndpoint(db, id)
    return 'enabled'
  })
}

/** Runs `steno webhooks disable`. */
export function disableWebhooks(args: string[], terminal: Terminal): Promise<number> {
  return changeAll(args, terminal, async (db, endpoint) => {
    const { id } = endpoint
    const [reason, at] = ['by the operator', Date.now()]
    await disableEndpoint(db, id, { reason, at })
    // Runs even if the endpoint was already disabled, since an earlier command may have been
    // interrupted before this step.
    const reported = disabledReason(endpoint.disabledReason ?? reason)
    await failEndpointDeliveries(db, id, { reason: reported, at })
    return 'disabled'
  })
}

/** Runs `steno webhooks remove`. */
export function removeWebhooks(args: string[], terminal: Terminal): Promise<number> {
  return changeAll(args, terminal, async (db, { id, kind, source, account }) => {
    await removeEndpoint(db, id, { reason: 'the webhook was removed', at: Date.now() })
    if (kind === 'webhook') {
      await recordAudit(db, { action: 'webhook.removed', account, subject: id }, commandActor())
    }
    if (kind === 'callback') return 'removed, until a job names it again'
    if (source === 'settings')
      return 'removed; while STENO_WEBHOOKS names it, a start brings it back'
    return 'removed'
  })
}

async function changeAll(
  args: string[],
  terminal: Terminal,
  change: EndpointChange,
): Promise<number> {
  const ids = parseArguments(args, {}).positionals
  if (ids.length === 0) throw new UsageError('name at least one webhook by its id')
  const { storage } = readSettings(readConfig, terminal.env)
  await using db = await openDatabase(storage, { create: false, terminal })
  let missing = 0
  for (const id of ids) {
    const endpoint = await findEndpoint(db, { id })
    const reported = endpoint ? await change(db, endpoint) : 'no webhook has this id'
    terminal.stderr.write(`${id}: ${reported}\n`)
    if (!endpoint) missing++
  }
  return missing > 0 ? 1 : 0
}
