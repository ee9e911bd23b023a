import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import test from 'node:test'
import { readConfig } from '../config/config.ts'
import { createServerLog } from './log.ts'

const KEY = 'a-configured-key'
const SECRET = `whsec_${Buffer.alloc(24, 's').toString('base64')}`
const config = readConfig({
  STENO_API_KEYS: `acme:${KEY}`,
  STENO_AUTH_HEADER_NAMES: 'x-own-key',
  STENO_METRICS_TOKEN: 'the.metrics"token',
  STENO_WEBHOOK_SECRETS: `acme:${SECRET}`,
  STENO_LOG_LEVEL: 'trace',
})

/** Returns the log line of some fields, as text and parsed. */
function written(fields: object, msg = 'line') {
  let line = ''
  const destination = {
    write(text: string) {
      line += text
    },
  }
  createServerLog(config, { destination }).trace(fields, msg)
  return { line, parsed: JSON.parse(line) }
}

const leaks: [name: string, fields: object, secret: string][] = [
  ['a header of keys', { req: { headers: { 'x-own-key': 'abc "d', accept: 'x' } } }, 'abc'],
  ['raw headers', { rawHeaders: ['X-Own-Key', 'abcdefg', 'Accept', 'x'] }, 'abcdefg'],
  ['a header that comes twice', { headers: { 'set-cookie': ['sid=1', 'b=2'] } }, 'sid=1'],
  ['authorization', { headers: { authorization: 'Basic Zm9vOmJhcg==' } }, 'Zm9v'],
  ['a configured key anywhere', { note: `got ${KEY} here` }, KEY],
  ['a token with a quote in it', { note: 'the.metrics"token' }, 'token"'],
  ['a signing secret', { text: `v1 ${SECRET}` }, SECRET],
  ['a stored key beyond its id', { text: `steno_abcdefgh${'i'.repeat(35)}` }, 'iii'],
  ['the token of an address', { url: 'ws://a/v2/live?token=abc-_d&x=1' }, 'abc-_d'],
  ['a signature of an address', { err: new Error('GET https://a/b?x=1&sig=abc%20d#e') }, 'abc%20d'],
  ['a password of an address', { url: 'https://user:pass@a.example/b' }, 'pass'],
  ['a bearer token', { text: 'Authorization: Bearer abc.def' }, 'abc.def'],
]

for (const [name, fields, secret] of leaks) {
  test(`${name} is hidden in every line, which remains JSON`, () => {
    const { line, parsed } = written(fields)
    assert.ok(!line.includes(secret), line)
    assert.ok(line.includes('[hidden]'), line)
    assert.equal(parsed.msg, 'line')
  })
}

test('a value named like a secret does not hide the values after it', () => {
  const fields = { reason: 'token', list: ['cookie', 'x'], last: 'authorization' }
  const { parsed } = written(fields)
  assert.deepEqual({ ...parsed, ...fields, list: parsed.list }, parsed)
  assert.deepEqual(parsed.list, ['cookie', '[hidden]'])
})

test('values without secrets are logged unchanged', () => {
  const fields = {
    keyId: 'steno_abcdefgh',
    account: 'acme',
    tokens: 3,
    url: 'https://a.example/b?c=d',
    remedy: 'set STENO_LIVE_RESUME_FRAME_BYTES',
  }
  const { parsed } = written(fields)
  assert.deepEqual({ ...fields, ...parsed }, parsed)
})

test('a log on a full disk loses its lines and stops nothing', {
  skip: process.platform !== 'linux' && 'needs /dev/full',
}, (t) => {
  const full = openSync('/dev/full', 'w')
  t.after(() => closeSync(full))
  const program = `
    import { createLog } from ${JSON.stringify(import.meta.resolve('./log.ts'))}
    const log = createLog('info')
    log.info('one')
    setImmediate(() => {
      log.fatal('two')
      setImmediate(() => console.log('goes on'))
    })`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', full],
    encoding: 'utf8',
    timeout: 20_000,
  })
  assert.equal(stdout, 'goes on\n')
})
