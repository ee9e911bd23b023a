import assert from 'node:assert/strict'
import test from 'node:test'
import { runHere as run } from '../../test/support/cli/run-here.ts'

test('incorrect usage exits with code 2 and shows the known commands', async () => {
  const cases: [args: string[], message: RegExp][] = [
    [[], /^Steno turns speech into text/],
    [
      ['transcripe'],
      /^steno: unknown command 'transcripe'\n(.*\n)* {2}transcribe +turn recordings/,
    ],
    [['transcribe'], /^steno transcribe: name at least one file/],
    [['transcribe', '--formt', 'srt', 'a'], /Unknown option '--formt' \(options: --format, /],
    [['transcribe', '--format', 'doc', 'a'], /--format must be one of: txt, json, srt, vtt, docx/],
    [['transcribe', '-o', 'a', '--output=b', 'a'], /--output takes one value, but is given twi/],
    [['\u001b[2J\n'], /^steno: unknown command '\?\[2J\?'\n/],
    [['jobs', 'a\u001b[2J'], /unknown subcommand 'a\?\[2J'/],
    [['transcribe', '--server', 'x', 'a'], /--server must be an http or https URL/],
    [
      ['jobs', '--server', 'http://me:secret@host'],
      /^(?!.*secret).*without user name and password/,
    ],
    [['jobs', '--server', 'http://host/?a=1'], /--server must be a URL without query and fragme/],
    [['jobs', '--server', 'http://host/#a'], /--server must be a URL without query and fragment/],
    [['jobs', '--key', 'ключ'], /--key has characters that no API key has/],
    [
      ['transcribe', '--json', '--format', 'srt', 'a'],
      /--json and --format srt exclude each other/,
    ],
    [['transcribe', '--subtitles', 'ass', 'a'], /--subtitles must be one of: srt, vtt; not 'ass'/],
    [['transcribe', '--subtitle-style', 'default', 'a'], /--subtitle-style needs --subtitles/],
    [['transcribe', '--summary=short', 'a'], /--summary must be one of: general, bullet_points/],
    [['transcribe', '--redact', 'foo', 'a'], /unknown type 'foo' in --redact; use all, name/],
    [['transcribe', '--redact-mode', 'mask', 'a'], /--redact-mode needs --redact/],
    [
      ['transcribe', '--vocabulary', '/no/v.json', 'a'],
      /Cannot read \/no\/v.json: the file does not exist/,
    ],
    [
      ['transcribe', '--spelling', '/no/s.json', 'a'],
      /Cannot read \/no\/s.json: the file does not exist/,
    ],
    [['jobs', '--limit', '0'], /--limit must be an integer of at least 1/],
    [['jobs', '--format', 'srt'], /^steno jobs: list takes no --format/],
    [['jobs', 'show', '7', '--limit', '2'], /^steno jobs: show takes no --limit/],
    [['jobs', 'delete', '7', '--status', 'error'], /^steno jobs: delete takes no --status/],
    [['jobs', 'show', '7', '--no-edited'], /--edited and --no-edited need --format FORMAT/],
    [
      ['deliveries', '--event', 'foo'],
      /--event must be some of: .*webhook\.test, or live\..*; not 'foo'/,
    ],
    [['deliveries', '--status', 'pending,lost'], /--status must be some of: .*; not 'lost'/],
    [['jobs', 'pause', 'x'], /unknown subcommand 'pause x'/],
    [['jobs', 'show'], /show takes the ID of a job/],
    [['jobs', 'show', '7', '8'], /^steno jobs: show takes the ID of a job/],
    [['jobs', 'list', '7'], /^steno jobs: list takes options only/],
    [['jobs', 'retry', '7'], /^steno jobs: retry takes the ID of a job and the name of an ADDON/],
    [
      ['backup', '/tmp', '--key-file', '/no/key'],
      /Cannot read the key \/no\/key: the file does not/,
    ],
    [['jobs', 'edits'], /edits takes the ID of a job/],
    [['jobs', 'show', ''], /^steno jobs: An argument is empty/],
    [['webhooks', 'test', '.', '--server', 'http://127.0.0.1:9'], /'\.' is not an ID/],
    [['serve', '8080'], /serve takes no arguments/],
    [['store', 'copy'], /use 'migrate' or 'encrypt'/],
    [['store', 'migrate'], /set STENO_DATABASE_URL, STENO_OBJECT_STORE, or both/],
    [['keys', 'drop'], /unknown subcommand 'drop'; use list, create, revoke/],
    [['keys', 'list', 'x'], /list takes no names/],
    [['keys', 'create', 'x'], /create takes options only/],
    [['keys', 'create', '--scopes', 'read,all'], /--scopes must be some of .*; not 'all'/],
    [['keys', 'create', '--expires', '0d'], /--expires must be a number of days such as 30d/],
    [['keys', 'create', '--account', ' '], /--account must be 1 to 100 visible characters/],
    [['keys', 'create', '--name', 'a\u001b[31m'], /--name must be 1 to 100 visible/],
    [['keys', 'revoke'], /name at least one key by its id/],
    [
      ['webhooks', 'drop'],
      /unknown subcommand 'drop'; use list, add, rotate, test, enable, disable, remove/,
    ],
    [['webhooks', 'list', 'x'], /list takes no names/],
    [['webhooks', 'add'], /add takes one URL/],
    [['webhooks', 'add', 'https://a.example', 'https://b.example'], /add takes one URL/],
    [['webhooks', 'add', 'a.example'], /the address must be an absolute http or https URL/],
    [['webhooks', 'add', 'https://a.example', '--events', 'x'], /--events must be .*; not 'x'/],
    [['webhooks', 'add', 'https://a.example', '--name', ' '], /--name must be 1 to 100 visible/],
    [['webhooks', 'add', 'https://a.example', '--account', ' '], /--account must be 1 to 100/],
    [['webhooks', 'rotate'], /rotate takes one ID, or --account/],
    [['webhooks', 'rotate', 'x', 'y'], /rotate takes one ID, or --account/],
    [['webhooks', 'rotate', 'x', '--account', 'acme'], /rotate takes one ID, or --account/],
    [['webhooks', 'rotate', '--account', ''], /--account must be 1 to 100/],
    [['webhooks', 'rotate', 'x', '--overlap', '24'], /--overlap must be a time such as 30m/],
    [['webhooks', 'test'], /test takes one ID/],
    [['webhooks', 'test', 'x', 'y'], /test takes one ID/],
    [['webhooks', 'remove'], /name at least one webhook by its id/],
    [
      ['models', 'update'],
      /unknown subcommand 'update'; use list, pull, import, check, remove, add/,
    ],
    [['models', 'list', 'x'], /list takes no names/],
    [['models', 'add', 'speaker-embedding'], /add takes a KIND and a FILE/],
    [['models', 'add', 'speaker', '/no/m.onnx'], /KIND must be speaker-embedding or speaker-/],
    [['models', 'add', 'speaker-embedding', 'x', '--name', ' '], /--name must be 1 to 100/],
    [['models', 'remove'], /remove takes a NAME or a KIND/],
    [['models', 'check', 'x'], /check takes no names/],
    [['models', 'pull'], /name at least one model/],
    [
      ['models', 'pull', 'whisper-huge'],
      /the catalog has no model 'whisper-huge'; it has whisper-tiny, /,
    ],
    [
      ['models', 'pull', 'silero-vad'],
      /silero-vad comes with Steno; to install it again, run 'npm run/,
    ],
    [['models', 'import'], /import takes a FOLDER/],
    [['models', 'import', '/no/folder'], /Cannot import \/no\/folder: the folder does not exist/],
    [['models', 'import', '/', '--languages', 'de'], /--languages needs --as/],
    [['models', 'import', '/', '--as', '../x'], /--as must be lower-case letters/],
    [['models', 'import', '/', '--as', 'x'], /--as needs --languages, such as de,fr/],
    [
      ['models', 'import', '/', '--as', 'x', '--languages', 'q'],
      /unknown language code 'q' in --languages/,
    ],
    [['deliveries', 'drop'], /unknown subcommand 'drop'; use list, show, resend/],
    [['deliveries', 'list', 'x'], /list takes options only/],
    [['deliveries', '--status', 'done'], /--status must be some of: pending, .*; not 'done'/],
    [['deliveries', '--limit', '0'], /--limit must be an integer of at least 1/],
    [['deliveries', '--offset=-1'], /--offset must be an integer of at least 0/],
    [['deliveries', 'show'], /show takes one ID/],
    [['deliveries', 'show', 'x', 'y'], /show takes one ID/],
    [['deliveries', 'resend'], /resend takes either IDs or --failed-since/],
    [['deliveries', 'resend', '--job', 'x'], /resend takes either IDs or --failed-since/],
    [['deliveries', 'resend', 'x', '--endpoint', 'y'], /resend takes either IDs or/],
    [['deliveries', 'resend', 'x', '--failed-since', '1d'], /resend takes either IDs or/],
    [['deliveries', 'resend', '--failed-since', '1w'], /--failed-since must be an age/],
    [['deliveries', 'resend', '--failed-since', '1d', '--status', 'failed'], /Unknown option/],
  ]
  for (const [args, message] of cases) {
    const { code, stderr, stdout } = await run(args)
    assert.match(stderr, message)
    assert.deepEqual([code, stdout], [2, ''], args.join(' '))
  }
})

test('invalid settings exit with code 2 and one line each', async () => {
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
  const verbs = ['serve', 'transcribe', 'live', 'jobs', 'search', 'keys', 'webhooks']
  const more = ['deliveries', 'usage', 'audit', 'models', 'setup', 'nodes', 'store']
  const all = [...verbs, ...more, 'backup', 'restore', 'bench', 'doctor']
  assert.deepEqual([names, code], [all, 0])
  for (const name of names) {
    const help = await run([name, '--help'])
    assert.ok(help.stdout.startsWith(`Usage: steno ${name}`))
    assert.equal(help.code, 0)
    assert.deepEqual(await run(['help', name]), help)
  }
})
