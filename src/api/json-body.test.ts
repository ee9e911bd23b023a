import assert from 'node:assert/strict'
import test from 'node:test'
import Fastify from 'fastify'
import { acceptJson } from './json-body.ts'

test('others have their turn between the steps of reading a long body', async (t) => {
  const steps: string[] = []
  let other: NodeJS.Immediate | undefined
  function note(step: string): void {
    steps.push(step)
    clearImmediate(other)
    other = setImmediate(() => steps.push('others'))
  }
  const { decode } = TextDecoder.prototype
  t.mock.method(
    TextDecoder.prototype,
    'decode',
    function (this: InstanceType<typeof TextDecoder>, bytes: Buffer) {
      note('decode')
      return decode.call(this, bytes)
    },
  )
  const { parse } = JSON
  t.mock.method(JSON, 'parse', (text: string) => {
    note('parse')
    return parse(text)
  })
  const http = Fastify()
  acceptJson(http, { maxBytes: 1_000_000 })
  http.post('/', async () => {
    note('judge')
    return 'done'
  })
  t.after(() => http.close())
  const headers = { 'content-type': 'application/json' }
  const payload = JSON.stringify({ text: 'x'.repeat(200_000) })
  assert.equal((await http.inject({ method: 'POST', url: '/', headers, payload })).body, 'done')
  clearImmediate(other)
  const seen = steps.join(' ')
  assert.match(seen, /^decode others parse others judge/)
})
