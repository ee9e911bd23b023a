import assert from 'node:assert/strict'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { runHere } from '../../../test/support/cli/run-here.ts'
import { makeFolder, openTestStorage } from '../../../test/support/storage/test-storage.ts'
import { disableEndpoint, findEndpoint } from '../../storage/deliveries/endpoints/endpoints.ts'
import { signingSecrets } from '../../storage/deliveries/endpoints/signing-secrets.ts'
import { queueJobEnd, queueWebhooks } from '../../storage/deliveries/queue-deliveries.ts'

const URL = 'https://a.example/hook'
const HOUR = 3_600_000
const SECRET = /^whsec_[A-Za-z\d+/]{43}=\n$/
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

/** Opens a store on which a server could be running, and `steno webhooks` for its folder. */
async function open(t: TestContext) {
  const { db, folder } = await openTestStorage(t)
  async function webhooks(args: string[], env: Record<string, string> = {}) {
    return runHere(['webhooks', ...args], { STENO_DATA_DIR: folder, ...env })
  }
  return {
    db,
    webhooks,
    /** Adds a webhook and resolves to its id. */
    async add(...args: string[]): Promise<string> {
      const { stderr } = await webhooks(['add', ...args])
      return /ep_[\da-f]{16}/.exec(stderr)![0]
    },
    /** Returns the fields of each line of the list. */
    async list(...args: string[]): Promise<string[][]> {
      const { code, stdout } = await webhooks(args)
      const [head, ...lines] = stdout.trimEnd().split('\n')
      assert.match(head!, /^id +account +name +url +events +from +created +arrived +state$/)
      assert.equal(code, 0)
      return lines.map((line) => line.split(/ {2,}/))
    },
    /**
     * Returns the secrets that sign deliveries to an endpoint of the account `acme` this many hours
     * from now.
     */
    secretsIn: (hours: number, endpointId = 'ep_other') => {
      return signingSecrets(db, { account: 'acme', endpointId, now: Date.now() + hours * HOUR })
    },
    /** Returns why the only delivery failed. */
    async failure() {
      const row = await db.sql.selectFrom('deliveries').selectAll().executeTakeFirstOrThrow()
      return [row.state, row.reason]
    },
  }
}

test('a webhook can be added before the first start, and its secret is shown once', async (t) => {
  const folder = join(await makeFolder(t), 'data')
  const env = { STENO_DATA_DIR: folder }
  const none = await runHere(['webhooks'], env)
  assert.match(
    none.stderr,
    /^steno webhooks: Cannot find a database in .*data \(STENO_DATA_DIR\)$/m,
  )
  assert.equal(none.code, 1)
  const { code, stdout, stderr } = await runHere(['webhooks', 'add', URL], env)
  assert.match(stdout, SECRET)
  assert.match(
    stderr,
    /^Created webhook ep_[\da-f]{16} for the account default, in .*\. It receives all events\.$/m,
  )
  assert.ok(!stderr.includes(stdout.trim()))
  assert.equal(code, 0)
})

test('rotate makes an account secret before the first start, but no webhook secret', async (t) => {
  const env = { STENO_DATA_DIR: join(await makeFolder(t), 'data') }
  const none = await runHere(['webhooks', 'rotate', 'ep_0'], env)
  assert.match(none.stderr, /^steno webhooks: Cannot find a database in /)
  assert.equal(none.code, 1)
  const { stdout, stderr } = await runHere(['webhooks', 'rotate', '--account', 'acme'], env)
  assert.match(stdout, SECRET)
  assert.match(
    stderr,
    /^New signing secret for the account acme\. No earlier secret was found here\. /,
  )
})

test('an added webhook is listed and signs with the printed secret', async (t) => {
  const { webhooks, list, secretsIn } = await open(t)
  const options = ['--account', 'acme', '--name', 'night job']
  const events = 'live.end_session,transcription.success'
  const { stdout, stderr } = await webhooks(['add', URL, ...options, '--events', events])
  const id = /ep_[\da-f]{16}/.exec(stderr)![0]
  assert.match(stderr, / It receives transcription\.success, live\.end_session\.$/m)
  assert.deepEqual(await secretsIn(0, id), [stdout.trim()])
  const [[...row] = []] = await list('list', '--account', 'acme')
  assert.match(row.splice(6, 1)[0]!, MOMENT)
  const reported = 'transcription.success,live.end_session'
  assert.deepEqual(row, [id, 'acme', 'night job', URL, reported, 'cli', '-', 'ok'])
  assert.deepEqual(await list('--account', 'other'), [])
})

test('a duplicate webhook URL is rejected and creates no secret', async (t) => {
  const { add, webhooks, secretsIn } = await open(t)
  const id = await add(URL, '--account', 'acme')
  const before = await secretsIn(0, id)
  const { code, stdout, stderr } = await webhooks(['add', URL, '--account', 'acme'])
  assert.match(
    stderr,
    new RegExp(
      `^steno webhooks: Cannot add the webhook: the account already has one with this URL, ${id}`,
    ),
  )
  assert.deepEqual([code, stdout], [1, ''])
  assert.deepEqual(await secretsIn(0, id), before)
})

test('the list hides credentials and shows callback receivers with --all', async (t) => {
  const { db, add, list } = await open(t)
  await add('https://me:pw@b.example/')
  const callback = { callback: true, callback_config: { url: 'https://c.example/x' } }
  const request_params = JSON.stringify(callback)
  const job = { id: 'job', account: 'ac\u001bme', status: 'done', request_params } as const
  await queueJobEnd(db, job, { at: Date.now() + 1000 })
  const [[, , , shown] = [], ...others] = await list()
  assert.deepEqual([shown, others], ['https://***@b.example/', []])
  const [, [, account, , origin, , from] = []] = await list('--all')
  assert.deepEqual([account, origin, from], ['ac?me', 'https://c.example', 'jobs'])
})

test('the list shows failing and disabled webhooks with their reasons', async (t) => {
  const { db, add, list } = await open(t)
  const id = await add(URL)
  const health = { failing_since: 0, last_failure: 'no\nanswer', last_success_at: 1000 }
  await db.sql.updateTable('endpoints').set(health).execute()
  const [[...failing] = []] = await list()
  const state = 'failing since 1970-01-01T00:00:00Z: no?answer'
  assert.deepEqual(failing.slice(-2), ['1970-01-01T00:00:01Z', state])
  await disableEndpoint(db, id, { reason: 'gone', at: 2000 })
  const [[...disabled] = []] = await list()
  assert.equal(disabled.at(-1), 'disabled 1970-01-01T00:00:02Z: gone')
})

test('rotation prints a new secret, and the old one stays valid for the overlap', async (t) => {
  const { add, webhooks, secretsIn } = await open(t)
  const id = await add(URL, '--account', 'acme')
  const [first] = await secretsIn(0, id)
  const { code, stdout, stderr } = await webhooks(['rotate', id])
  assert.match(stdout, SECRET)
  assert.match(stderr, /^New signing secret for ep_\w+\. Earlier secrets remain valid until \d{4}-/)
  assert.equal(code, 0)
  assert.deepEqual(await secretsIn(23.9, id), [stdout.trim(), first])
  assert.deepEqual(await secretsIn(24, id), [stdout.trim()])
  const leaked = await webhooks(['rotate', id, '--overlap', '0h'])
  assert.match(leaked.stderr, / Earlier secrets no longer sign deliveries\.$/m)
  assert.deepEqual(await secretsIn(0, id), [leaked.stdout.trim()])
})

test('an account secret is created, then rotated, beside configured ones', async (t) => {
  const { webhooks, secretsIn } = await open(t)
  const configured = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
  const foreign = `whsec_${Buffer.alloc(32, 2).toString('base64')}`
  const STENO_WEBHOOK_SECRETS = `acme:${configured},other:${foreign}`
  const { stdout } = await webhooks(['rotate', '--account', 'acme'], { STENO_WEBHOOK_SECRETS })
  assert.deepEqual(await secretsIn(23), [stdout.trim(), configured])
  const { stdout: next } = await webhooks(['rotate', '--account', 'acme', '--overlap', '30m'])
  assert.deepEqual(await secretsIn(0.4), [next.trim(), stdout.trim(), configured])
  assert.deepEqual(await secretsIn(0.6), [next.trim()])
})

test('only secrets of webhooks can be rotated', async (t) => {
  const { db, webhooks } = await open(t)
  const callback = { callback: true, callback_config: { url: 'https://c.example/x' } }
  const request_params = JSON.stringify(callback)
  const job = { id: 'job', account: 'ac\u001bme', status: 'done', request_params } as const
  await queueJobEnd(db, job, { at: 1 })
  const { id } = await db.sql.selectFrom('endpoints').select('id').executeTakeFirstOrThrow()
  for (const verb of ['rotate', 'test']) {
    const refused = await webhooks([verb, id])
    assert.match(
      refused.stderr,
      /: Cannot do this with ep_\w+: it is a callback endpoint: .* account ac\?me$/m,
    )
    assert.deepEqual([refused.code, refused.stdout], [1, ''])
    const missing = await webhooks([verb, 'ep_0'])
    assert.match(missing.stderr, /^steno webhooks: Cannot find a webhook with the id ep_0$/m)
    assert.deepEqual([missing.code, missing.stdout], [1, ''])
  }
})

test('disabling a webhook fails its pending deliveries, and it can be enabled again', async (t) => {
  const { db, add, webhooks, failure } = await open(t)
  const id = await add(URL, '--account', 'acme')
  await queueWebhooks(db, { id: 'job', account: 'acme' }, ['transcription.created'], { at: 1 })
  const disabled = await webhooks(['disable', 'ep_0', id])
  const reported = `ep_0: no webhook has this id\n${id}: disabled\n`
  assert.deepEqual(disabled, { code: 1, stdout: '', stderr: reported })
  assert.deepEqual(await failure(), ['failed', 'the endpoint is disabled: by the operator'])
  assert.equal((await findEndpoint(db, { id }))?.disabledReason, 'by the operator')
  const enabled = await webhooks(['enable', id])
  assert.deepEqual(enabled, { code: 0, stdout: '', stderr: `${id}: enabled\n` })
  assert.equal((await findEndpoint(db, { id }))?.disabledAt, null)
})

test('pending deliveries of an automatically disabled webhook fail with its reason', async (t) => {
  const { db, add, webhooks, failure } = await open(t)
  const id = await add(URL, '--account', 'acme')
  await queueWebhooks(db, { id: 'job', account: 'acme' }, ['transcription.created'], { at: 1 })
  await disableEndpoint(db, id, { reason: 'gone', at: 2 })
  assert.equal((await webhooks(['disable', id])).code, 0)
  assert.deepEqual(await failure(), ['failed', 'the endpoint is disabled: gone'])
})

test('removing a webhook fails its pending deliveries, and settings may restore it', async (t) => {
  const { db, add, webhooks, list, failure } = await open(t)
  const id = await add(URL, '--account', 'acme')
  await queueWebhooks(db, { id: 'job', account: 'acme' }, ['transcription.created'], { at: 1 })
  const removed = await webhooks(['remove', id])
  assert.deepEqual(removed, { code: 0, stdout: '', stderr: `${id}: removed\n` })
  assert.deepEqual(await list(), [])
  assert.deepEqual(await failure(), ['failed', 'the webhook was removed'])
  await add(URL, '--account', 'acme')
  await db.sql.updateTable('endpoints').set({ source: 'settings' }).execute()
  const { stderr } = await webhooks(['remove', id])
  assert.match(stderr, /removed; while STENO_WEBHOOKS names it, a start brings it back$/m)
})
