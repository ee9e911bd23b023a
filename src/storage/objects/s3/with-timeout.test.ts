import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import test from 'node:test'
import { createS3 } from './s3-client.ts'
import { withTimeout } from './with-timeout.ts'

test('a late response is an error, and its body is destroyed', async () => {
  let isDestroyed = false
  const Body = {
    destroy() {
      isDestroyed = true
    },
  }
  const { promise, resolve } = Promise.withResolvers<{ output: { Body: typeof Body } }>()
  await assert.rejects(withTimeout(promise, 1), { name: 'TimeoutError', message: /within 1 ms/ })
  resolve({ output: { Body } })
  await promise
  await Promise.resolve()
  assert.ok(isDestroyed)
  assert.deepEqual(await withTimeout(Promise.resolve({ output: {} }), 1), { output: {} })
})

test('a server that never responds times out', async (t) => {
  const sockets: Socket[] = []
  const server = createServer((socket) => sockets.push(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const settings = {
    bucket: 'test',
    prefix: '',
    endpoint,
    region: 'us-east-1',
    pathStyle: true,
    encryption: undefined,
    kmsKey: undefined,
    cacheBytes: 0,
    startSeconds: 0,
  }
  process.env.AWS_ACCESS_KEY_ID ??= 'test'
  process.env.AWS_SECRET_ACCESS_KEY ??= 'test'
  const { client, commands } = await createS3(settings, { shortRequestMs: 50 })
  t.after(() => {
    client.destroy()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const head = new commands.HeadObjectCommand({ Bucket: 'test', Key: 'a' })
  await assert.rejects(client.send(head), { name: 'TimeoutError' })
})
