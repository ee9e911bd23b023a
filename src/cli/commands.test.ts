import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import { runCommand } from './commands.ts'

/** Runs `steno …args` in this process and collects what it writes. */
async function run(args: readonly string[], env: Record<string, string> = {}) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const { signal } = new AbortController()
  const code = await runCommand(args, { env, stdin, stdout, stderr, signal })
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') }
}

test('wrong usage ends with code 2 and says what is known', async () => {
  const cases: [args: string[], message: RegExp][] = [
    [[], /^Steno turns speech into text/],
    [
      ['transcripe'],
      /^steno: unknown command 'transcripe'\n(.*\n)* {2}transcribe +turn recordings/,
    ],
    [['transcribe'], /^steno transcribe: name at least one file/],
    [['transcribe', '--formt', 'srt', 'a'], /Unknown option '--formt' \(options: --format, /],
    [['transcribe', '--format', 'doc', 'a'], /--format must be one of: txt, json, srt, vtt/],
    [['transcribe', '--server', 'x', 'a'], /--server must be an http or https URL/],
    [['jobs', '--limit', '0'], /--limit must be an integer of at least 1/],
    [['jobs', 'cancel', 'x'], /cannot do 'cancel x'/],
    [['serve', '8080'], /serve takes no arguments/],
    [['keys', 'drop'], /cannot do 'drop', only list, create and revoke/],
    [['keys', 'list', 'x'], /list takes no names/],
    [['keys', 'create', 'x'], /create takes options only/],
    [['keys', 'create', '--scopes', 'read,all'], /--scopes must be some of .*; not 'all'/],
    [['keys', 'create', '--expires', '0d'], /--expires must be days such as 30d/],
    [['keys', 'create', '--account', ' '], /--account must be 1 to 100 visible characters/],
    [['keys', 'create', '--name', 'a\u001b[31m'], /--name must be 1 to 100 visible/],
    [['keys', 'revoke'], /name at least one key by its id/],
  ]
  for (const [args, message] of cases) {
    const { code, stderr, stdout } = await run(args)
    assert.match(stderr, message)
    assert.deepEqual([code, stdout], [2, ''], args.join(' '))
  }
})

test('settings that cannot be used end with code 2 and a line for each', async () => {
  const bad = { STENO_PORT: 'x', STENO_LOG_LEVEL: 'loud' }
  const { code, stderr } = await run(['serve'], bad)
  const [first, second, hint] = stderr.split('\n')
  assert.match(first!, /^steno serve: STENO_PORT must be an integer/)
  assert.match(second!, /^steno serve: STENO_LOG_LEVEL must be one of/)
  assert.equal(hint, "See 'steno serve --help'")
  assert.equal(code, 2)
})

test('--help explains the program and every command', async () => {
  const { code, stdout } = await run(['--help'])
  const names = [...stdout.matchAll(/^ {2}(\w+) /gm)].map(([, name]) => name!)
  assert.deepEqual([names, code], [['serve', 'transcribe', 'live', 'jobs', 'keys', 'doctor'], 0])
  for (const name of names) {
    const help = await run([name, '--help'])
    assert.ok(help.stdout.startsWith(`Usage: steno ${name}`))
    assert.equal(help.code, 0)
  }
})
