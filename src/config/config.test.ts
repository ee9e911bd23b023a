import assert from 'node:assert/strict'
import { syncBuiltinESMExports } from 'node:module'
import os, { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import test from 'node:test'
import { readClientConfig, readConfig, unknownSettings } from './config.ts'
import { userCacheFolder } from './installation.ts'

/** What is wrong with `env`, line by line. */
function problems(env: Record<string, string>): string[] {
  try {
    readConfig(env)
    return []
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}

test('without variables every setting has its default', () => {
  const { http, keys, network, storage, live } = readConfig({})
  assert.deepEqual(
    [http.host, http.port, http.authHeaderNames],
    ['127.0.0.1', 7070, ['x-service-key']],
  )
  assert.deepEqual([keys, network.allowPrivateNetwork, storage.uploadTtl], [[], [], 86_400])
  // A muted microphone keeps its session.
  assert.equal(live.idleTimeout, 0)
})

test('limits default to those of a private machine or a public service', () => {
  const limitsOf = (env: Record<string, string>) => {
    const { storage, media } = readConfig(env)
    return [storage.maxFileBytes, media.maxAudio]
  }
  assert.deepEqual(limitsOf({}), [5_000_000_000, 43_200])
  assert.deepEqual(limitsOf({ STENO_LIMITS: 'public' }), [1_000_000_000, 8100])
  const changed = { STENO_LIMITS: 'public', STENO_MAX_AUDIO_S: '60' }
  assert.deepEqual(limitsOf(changed), [1_000_000_000, 60])
})

test('an empty value counts as unset', () => {
  assert.equal(readConfig({ STENO_PORT: '', STENO_HOST: '' }).http.port, 7070)
})

test('blanks around the host to listen on are ignored', () => {
  assert.equal(readConfig({ STENO_HOST: ' 0.0.0.0 ' }).http.host, '0.0.0.0')
  assert.equal(readClientConfig({ STENO_HOST: '::1 ' }).local.host, '::1')
})

test('the host to listen on is a name or an address, in brackets or without', () => {
  for (const host of ['::1', '[::1]', 'fe80::1%eth0', 'localhost', 'my_host-1.lan']) {
    assert.equal(readConfig({ STENO_HOST: host }).http.host, host.replace(/[[\]]/g, ''))
  }
  for (const host of ['http://localhost', '127.0.0.1:8080', 'localhost:80', '[::1]:80', '*']) {
    assert.throws(() => readConfig({ STENO_HOST: host }), /STENO_HOST must be a host name or an IP/)
  }
})

test('blanks and Windows line ends around a value are ignored', () => {
  const { storage, http, logLevel } = readConfig({
    STENO_DATA_DIR: '/srv/steno\r',
    STENO_TRUST_PROXY: 'true ',
    STENO_LOG_LEVEL: 'warn\r\n',
    STENO_PUBLIC_BASE_URL: 'https://stt.example/\r',
  })
  assert.deepEqual(
    [storage.folder, http.trustProxy, logLevel, http.publicBaseUrl],
    [resolve('/srv/steno'), true, 'warn', 'https://stt.example'],
  )
  assert.equal(readConfig({ STENO_DATA_DIR: ' ' }).storage.folder, resolve('data'))
})

test('quotes that an env file left around a value are an error', () => {
  const quoted = {
    STENO_DATA_DIR: '"/srv/steno"',
    STENO_API_KEYS: `'acme:a-key'\r`,
    STENO_PORT: '"7070"',
    STENO_PUBLIC_BASE_URL: '"https://stt.example"',
  }
  const lines = problems(quoted)
  assert.equal(lines.length, 4)
  for (const line of lines) assert.match(line, /^STENO_\w+ must not be in quotes, /)
  assert.deepEqual(problems({ STENO_OBJECT_KEY_COMMAND: '"/opt/my kms/print-keys"' }), [])
})

test('each invalid variable yields one error line', () => {
  const lines = problems({
    STENO_PORT: '70000',
    STENO_TRUST_PROXY: 'yes',
    STENO_AUTH_HEADER_NAMES: ',',
    STENO_LOG_LEVEL: 'loud',
    STENO_API_KEYS: 'no-colon',
    STENO_PUBLIC_BASE_URL: 'ftp://x',
    STENO_MODEL_ALIASES: 'fast=stt-9',
  })
  const names = lines.map((line) => line.split(' ')[0])
  assert.deepEqual(names.sort(), [
    'STENO_API_KEYS',
    'STENO_AUTH_HEADER_NAMES',
    'STENO_LOG_LEVEL',
    'STENO_MODEL_ALIASES',
    'STENO_PORT',
    'STENO_PUBLIC_BASE_URL',
    'STENO_TRUST_PROXY',
  ])
})

test('a value that would be ignored, or break every request, is rejected', () => {
  const wrong: Record<string, string[]> = {
    STENO_REQUEST_ID_HEADER_NAMES: ['x my id', 'x-id:', 'x-\u00e9'],
    STENO_AUTH_HEADER_NAMES: ['x my key'],
    STENO_PUBLIC_BASE_URL: ['https://stt.example/?a=1', 'https://stt.example/#a', 'https://u:p@x'],
    STENO_NODE_URL: ['http://10.0.0.7/?a=1', 'http://10.0.0.7/steno'],
    STENO_ZERO_RETENTION: ['yes', 'TRUE', 'alice,no', 'on', 'all', '*'],
    STENO_API_KEYS: ['a:one,b:one', 'a:\u00e9', 'a:two words'],
    STENO_RETENTION_DAYS: [' ', '999999999999'],
    STENO_AUDIT_DAYS: ['999999999999'],
    STENO_ORPHAN_DAYS: ['999999999999'],
    STENO_DELIVERY_LOG_DAYS: ['999999999999'],
    STENO_JOB_MAX_ATTEMPTS: ['9999999999'],
    STENO_LIST_MAX_LIMIT: ['9999999999'],
    STENO_METRICS_TOKEN: [' ', '\u00e9'],
    STENO_EXTRA_LANGUAGE_CODES: ['EN', 'yue,zh-HK'],
    STENO_LIVE_VAD_HANGOVER_S: [' '],
    STENO_JOB_TIMEOUT_S: ['99999999'],
    STENO_FETCH_TIMEOUT_S: ['99999999'],
    STENO_MODEL_IDLE_SECONDS: ['99999999'],
    STENO_DATABASE_TIMEOUT_S: ['99999999'],
  }
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      const lines = problems({ [name]: value })
      assert.ok(lines.length === 1 && lines[0]!.startsWith(`${name} must `), `${name}=${value}`)
    }
  }
  assert.deepEqual(problems({ STENO_API_KEYS: 'a:one,a:two,a:one', STENO_JOB_TIMEOUT_S: '0' }), [])
})

test('a process may have only some roles if others can provide the rest', () => {
  const database = { STENO_DATABASE_URL: 'postgres://db.example/steno' }
  const all = ['api', 'worker', 'live', 'delivery']
  assert.deepEqual(readConfig({}).node, { roles: all, url: undefined })
  const env = { ...database, STENO_ROLES: 'live, api', STENO_NODE_URL: 'http://10.0.0.7:7070/' }
  assert.deepEqual(readConfig(env).node, { roles: ['api', 'live'], url: 'http://10.0.0.7:7070' })
  assert.deepEqual(problems({ STENO_ROLES: 'api' }), [
    'STENO_ROLES needs STENO_DATABASE_URL: without it no server has the other roles',
  ])
  assert.deepEqual(problems({ ...database, STENO_ROLES: 'api,gpu' }), [
    'STENO_ROLES must be some of api, worker, live, delivery; not gpu',
  ])
  assert.deepEqual(problems({ ...database, STENO_ROLES: ',' }), [
    'STENO_ROLES must name at least one of api, worker, live, delivery',
  ])
})

test('a database is configured by URL, which no error message shows', () => {
  const url = 'postgresql://me:secret@db.example/steno?sslmode=require'
  const { database } = readConfig({ STENO_DATABASE_URL: url }).storage
  const usual = { connections: 10, statementSeconds: 30, startSeconds: 60 }
  assert.deepEqual(database, { url, ...usual })
  assert.equal(readConfig({}).storage.database, undefined)
  assert.deepEqual(problems({ STENO_DATABASE_URL: 'mysql://me:secret@db.example/steno' }), [
    'STENO_DATABASE_URL must be an absolute postgres URL',
  ])
})

test('objects are stored on disk, or in S3-compatible storage with options', () => {
  const read = (value: string) => readConfig({ STENO_OBJECT_STORE: value }).storage.objectStore
  assert.equal(read(''), undefined)
  assert.equal(read('disk'), undefined)
  const aws = read('s3://my-bucket')!
  assert.deepEqual(
    [aws.bucket, aws.prefix, aws.endpoint, aws.pathStyle],
    ['my-bucket', '', undefined, false],
  )
  const changed = read(
    's3://b/some/where/?endpoint=http://[::1]:9000/&region=eu-1&encryption=aws:kms&kmsKey=k',
  )!
  assert.deepEqual(
    [changed.prefix, changed.endpoint, changed.pathStyle],
    ['some/where', 'http://[::1]:9000', true],
  )
  assert.deepEqual([changed.region, changed.encryption, changed.kmsKey], ['eu-1', 'aws:kms', 'k'])
  const wrong = [
    's3',
    'http://b',
    's3://',
    's3://b?x=1',
    's3://b?pathStyle=yes',
    's3://b?encryption=x',
  ]
  for (const value of [...wrong, 's3://key@b', 's3://b?endpoint=here']) {
    assert.match(problems({ STENO_OBJECT_STORE: value }).join(), /must be disk or s3:/, value)
  }
})

test('the answer timeout of a language model is at least STENO_LLM_TIMEOUT_S', () => {
  const limits = (values: object) => {
    const { llm } = readConfig({ STENO_LLM_URL: 'embedded:m', ...values })
    return [llm!.timeout, llm!.answerTimeout]
  }
  assert.deepEqual(limits({}), [120, 1800])
  assert.deepEqual(limits({ STENO_LLM_TIMEOUT_S: '3600' }), [3600, 3600])
  assert.deepEqual(limits({ STENO_LLM_ANSWER_TIMEOUT_S: '300' }), [120, 300])
})

test('lists are split at commas, keys and aliases at the first separator', () => {
  const config = readConfig({
    STENO_API_KEYS: 'me:a:b, you:c',
    STENO_MODEL_ALIASES: 'fast=stt-1',
    STENO_AUTH_HEADER_NAMES: 'X-Key, X-Other',
  })
  const keys = [
    { account: 'me', key: 'a:b' },
    { account: 'you', key: 'c' },
  ]
  assert.deepEqual([config.keys, config.models.aliases], [keys, { fast: 'stt-1' }])
  assert.deepEqual(config.http.authHeaderNames, ['x-key', 'x-other'])
})

test('the rate limit is two numbers, or 0 for off', () => {
  const read = (value: string) => readConfig({ STENO_RATE_LIMIT: value }).http.rateLimit
  assert.deepEqual(read(''), { perMinute: 600, burst: 100 })
  assert.deepEqual(read('60/5'), { perMinute: 60, burst: 5 })
  assert.equal(read('0'), undefined)
  for (const value of ['600', '600/', '/100', '0/5', '5/0', '1.5/2', '-1/2', '6/1/1', 'off']) {
    assert.match(problems({ STENO_RATE_LIMIT: value }).join(), /^STENO_RATE_LIMIT must be /, value)
  }
})

test('the private network is closed, open, or open for listed entries', () => {
  const read = (value: string) => {
    return readConfig({ STENO_ALLOW_PRIVATE_NETWORK: value }).network.allowPrivateNetwork
  }
  assert.deepEqual(read('false'), [])
  assert.equal(read('true'), 'all')
  assert.deepEqual(read('10.0.0.0/8,nas.local'), ['10.0.0.0/8', 'nas.local'])
})

test('an invalid entry for the private network is rejected by name', () => {
  const value = (entry: string) => ({ STENO_ALLOW_PRIVATE_NETWORK: entry })
  const right = 'nas,nas.local,my_nas.local,10.0.0.0/8,10.1.2.3,fd00::/8,::1,0.0.0.0/0,a-1.b2'
  assert.deepEqual(problems(value(right)), [])
  const wrong = [
    ...['http://nas', 'nas:8080', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/x', 'fd00::/129', '10.0.0'],
    ...[
      '[::1]',
      '*.local',
      'TRUE',
      'yes',
      '1',
      '0x7f.1',
      'nas.',
      'nas..local',
      '-nas',
      'fe80::1%lo',
    ],
    ...['10.0.0.0/8 nas', 'nas/8', 'n\u00e4s', `${'a.'.repeat(150)}b`],
  ]
  for (const entry of wrong) {
    const [line = '', ...others] = problems(value(`nas.local, ${entry}`))
    assert.match(line, /^STENO_ALLOW_PRIVATE_NETWORK must be /, entry)
    assert.ok(line.includes(entry) && others.length === 0, entry)
  }
})

const secret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 251).toString('base64')}`

test('delivery settings have defaults, and no webhooks are configured', () => {
  assert.deepEqual(readConfig({}).delivery, {
    timeout: 10,
    userAgent: 'steno',
    headerPrefixes: [],
    secrets: [],
    webhooks: [],
    maxQueuedLive: 10_000,
    disableAfterDays: 5,
    logDays: 30,
  })
})

test('delivery settings are read from their variables', () => {
  const config = readConfig({
    STENO_CALLBACK_TIMEOUT_S: '600',
    STENO_CALLBACK_USER_AGENT: 'Example Speech/2.0 (+https://example.com)',
    STENO_WEBHOOK_HEADER_PREFIXES: 'X-Example-, webhook, svix',
    STENO_WEBHOOK_SECRETS: `me:${secret(24)}, you:${secret(64)}`,
    STENO_WEBHOOKS: 'me=https://a.example/?a=b, me=http://me:pw@b.example',
    STENO_CALLBACK_MAX_QUEUED: '1',
    STENO_WEBHOOK_DISABLE_AFTER_DAYS: '0.5',
    STENO_DELIVERY_LOG_DAYS: '0',
  })
  assert.deepEqual(config.delivery, {
    timeout: 600,
    userAgent: 'Example Speech/2.0 (+https://example.com)',
    headerPrefixes: ['x-example', 'svix'],
    secrets: [
      { account: 'me', secret: secret(24) },
      { account: 'you', secret: secret(64) },
    ],
    webhooks: [
      { account: 'me', url: 'https://a.example/?a=b' },
      { account: 'me', url: 'http://me:pw@b.example' },
    ],
    maxQueuedLive: 1,
    disableAfterDays: 0.5,
    logDays: 0,
  })
})

const wrongDelivery: Record<string, readonly string[]> = {
  STENO_CALLBACK_TIMEOUT_S: ['0', '601', '1.5', 'x'],
  STENO_CALLBACK_USER_AGENT: ['a\nb', ' ', 'a\u007f', '\u00fcber'],
  STENO_WEBHOOK_HEADER_PREFIXES: ['x example', 'x:', 'x_y', '-x', 'x--y', '-'],
  STENO_WEBHOOK_SECRETS: [
    ...['me', `:${secret(32)}`, `me:${secret(23)}`, `me:${secret(65)}`, 'me:whsec_'],
    ...[`me:${secret(32).slice(6)}`, `me:whsec_${'-'.repeat(43)}=`, `me=${secret(32)}`],
  ],
  STENO_WEBHOOKS: [
    ...['https://a.example', 'me=', '=https://a.example', 'me=a.example', 'me=ftp://a.example'],
    ...['me:https://a.example', 'me=https:a.example', 'me=https://', 'me=https://a.example/#x'],
  ],
  STENO_CALLBACK_MAX_QUEUED: ['0', '-1', 'x'],
  STENO_WEBHOOK_DISABLE_AFTER_DAYS: ['0', '366', 'never'],
  STENO_DELIVERY_LOG_DAYS: ['-1', '1.5', 'x'],
}

for (const [name, values] of Object.entries(wrongDelivery)) {
  test(`an invalid ${name} is rejected by its name and without its value`, () => {
    for (const value of values) {
      const [line = '', ...others] = problems({ [name]: value })
      assert.ok(line.startsWith(`${name} must `) && others.length === 0, value)
      assert.ok(!line.includes('whsec_+') && !line.includes('a.example'), value)
    }
  })
}

test('client commands default to the address of the local server', () => {
  const { url, key, local, authHeaderName } = readClientConfig({
    STENO_KEY: 'k',
    STENO_PORT: '8080',
    STENO_AUTH_HEADER_NAMES: 'x-key',
  })
  assert.deepEqual([url, key, authHeaderName], [undefined, 'k', 'x-key'])
  assert.deepEqual(local, { host: '127.0.0.1', port: 8080 })
})

test('a misspelled setting is detected, and other variables are ignored', () => {
  const env = { STENO_PROT: '1', STENO_PORT: '1', STENO_URL: 'http://x', PATH: '/bin' }
  assert.deepEqual(unknownSettings(env), ['STENO_PROT'])
})

test('models of a user without a home need a folder, as others could write to a shared one', (t) => {
  const home = t.mock.method(os, 'homedir', () => {
    throw new Error('ENOENT: no such file or directory, uv_os_homedir')
  })
  syncBuiltinESMExports()
  t.after(() => {
    home.mock.restore()
    syncBuiltinESMExports()
  })
  assert.throws(
    () => userCacheFolder({}, 'linux'),
    /this user has no home; set STENO_MODELS_DIR, or/,
  )
  assert.equal(userCacheFolder({ XDG_CACHE_HOME: '/caches' }, 'linux'), '/caches')
})

test('models of an installed package are in the cache folder of the platform', () => {
  const home = homedir()
  assert.equal(userCacheFolder({}, 'linux'), join(home, '.cache'))
  assert.equal(userCacheFolder({ XDG_CACHE_HOME: '/caches' }, 'linux'), '/caches')
  assert.equal(
    userCacheFolder({ XDG_CACHE_HOME: '/caches' }, 'darwin'),
    join(home, 'Library/Caches'),
  )
  assert.equal(userCacheFolder({ LOCALAPPDATA: 'C:\\Users\\ada' }, 'win32'), 'C:\\Users\\ada')
})
