import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import { captureLog } from '../../test/support/server/captured-log.ts'
import { createDescriptorCheck } from './watch-descriptors.ts'

test('a lack of file descriptors is logged at most once a minute', () => {
  const { log, lines } = captureLog()
  let [ms, code] = [0, '']
  const open = () => {
    if (code) throw Object.assign(new Error('open'), { code })
  }
  const check = createDescriptorCheck(log, { open, now: () => ms })
  for (const [at, failure] of [
    [0, ''],
    [5000, 'EMFILE'],
    [10_000, 'EMFILE'],
    [15_000, ''],
    [20_000, 'EMFILE'],
    [65_000, 'ENFILE'],
    [130_000, 'EACCES'],
  ] as const) {
    ;[ms, code] = [at, failure]
    check()
  }
  assert.deepEqual(
    lines.map(({ msg, code, remedy }) => [msg, code, remedy]),
    [
      ['no file descriptors left, new connections are closed', 'EMFILE', 'raise ulimit -n'],
      [
        'no file descriptors left, new connections are closed',
        'ENFILE',
        'raise the limit of the system',
      ],
    ],
  )
})

test('a server that has used its file descriptors logs it', {
  skip: process.platform === 'win32',
}, () => {
  const script = `
    import { openSync } from 'node:fs'
    import { createDescriptorCheck } from ${JSON.stringify(new URL('./watch-descriptors.ts', import.meta.url).href)}
    const check = createDescriptorCheck({ error: (_, text) => process.stdout.write(text) })
    check()
    try { for (;;) openSync('/dev/null') } catch {}
    check()`
  const node = [process.execPath, '--input-type=module', '-e', script]
  const { stdout } = spawnSync('sh', ['-c', 'ulimit -n 64; exec "$@"', 'sh', ...node])
  assert.match(String(stdout), /^no file descriptors left/)
})
