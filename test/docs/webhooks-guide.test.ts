import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { signedHeaders } from '../../src/delivery/http/signature.ts'
import { generateSecret } from '../../src/storage/deliveries/endpoints/signing-secrets.ts'
import { makeFolder } from '../support/storage/test-storage.ts'

const guide = readFileSync(join(import.meta.dirname, '../../docs/webhooks.md'), 'utf8')
const [receiver = '', verifier = ''] = [...guide.matchAll(/^```js\n(.*?)^```$/gms)].map(
  ([, js]) => js!,
)

/** Writes an example to a file of its own, as a reader would. */
async function save(t: TestContext, code: string): Promise<string> {
  const file = join(await makeFolder(t), 'example.mjs')
  await writeFile(file, code)
  return file
}

/** A delivery as the server sends it. */
async function sign(secrets: readonly string[], { at = Date.now() } = {}) {
  const body = JSON.stringify({ event: 'transcription.success', payload: { id: 'ü' } })
  const bytes = Buffer.from(body)
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield bytes
  }
  const toSign = { id: randomUUID(), at, body: { bytes: bytes.length, chunks }, secrets }
  return { body, headers: await signedHeaders(toSign, { prefixes: [] }) }
}

test("the guide's receiver accepts signed requests and rejects others", async (t) => {
  const secret = generateSecret()
  const here = receiver
    .replace("'standardwebhooks'", JSON.stringify(import.meta.resolve('standardwebhooks')))
    .replace('.listen(8080)', '.listen(0, function () { console.log(this.address().port) })')
  const child = spawn(process.execPath, [await save(t, here)], {
    env: { ...process.env, WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill())
  const [port] = await once(child.stdout, 'data')
  async function send({ body, headers }: Awaited<ReturnType<typeof sign>>): Promise<number> {
    const url = `http://127.0.0.1:${Number(port)}`
    const { status } = await fetch(url, { method: 'POST', headers, body })
    return status
  }
  const right = await sign([generateSecret(), secret])
  assert.equal(await send(right), 204)
  assert.equal(await send({ ...right, body: right.body.replace('success', 'error') }), 401)
  assert.equal(await send(await sign([generateSecret()])), 401)
  assert.equal(await send(await sign([])), 401)
})

test("the guide's verifier accepts recently signed requests and rejects others", async (t) => {
  const { verify } = await import(await save(t, verifier))
  const secret = generateSecret()
  const { body, headers } = await sign([generateSecret(), secret])
  assert.deepEqual(verify(body, headers, secret), JSON.parse(body))
  const minute = 60_000
  const [old, early] = [
    await sign([secret], { at: Date.now() - 6 * minute }),
    await sign([secret], { at: Date.now() + 6 * minute }),
  ]
  const wrong: [body: string, headers: Record<string, string>, secret: string][] = [
    [body, headers, generateSecret()],
    [`${body} `, headers, secret],
    [body, { ...headers, 'webhook-id': randomUUID() }, secret],
    [body, (await sign([])).headers, secret],
    [body, {}, secret],
    [old.body, old.headers, secret],
    [early.body, early.headers, secret],
  ]
  for (const given of wrong) assert.throws(() => verify(...given), /not from our server/)
})
