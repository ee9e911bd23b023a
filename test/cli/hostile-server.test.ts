import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { runHere } from '../support/cli/run-here.ts'

/** Text that would change the color and the title of a terminal, and the direction of text. */
const HOSTILE = '\u001b[31mred\u009b31m\u001b]0;title\u0007\u202e'
const ID = '00000000-0000-4000-8000-000000000000'

const job = {
  id: HOSTILE,
  status: HOSTILE,
  created_at: HOSTILE,
  error_code: null,
  file: { filename: HOSTILE, audio_duration: 1 },
}
const hit = { job, start: 0, speaker: null, speaker_name: HOSTILE, text: HOSTILE }
const version = {
  version: 1,
  created_at: HOSTILE,
  key_name: HOSTILE,
  operations: 1,
  restored: null,
}
const failure = { success: false, results: null, error: { message: HOSTILE } }

const answers: [path: RegExp, status: number, body: object][] = [
  [/\/v2\/pre-recorded\?/, 200, { items: [job], next: null }],
  [/\/v2\/search/, 200, { items: [hit], next: null }],
  [/\/edits/, 200, { versions: [version] }],
  [/\/retry/, 200, failure],
  [/./, 400, { message: HOSTILE }],
]

const server = createServer((request, response) => {
  const [, status, body] = answers.find(([path]) => path.test(request.url!))!
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})
before(() => once(server.listen(0, '127.0.0.1'), 'listening'))
after(() => server.close())

for (const args of [
  ['jobs', 'list'],
  ['jobs', 'edits', ID],
  ['jobs', 'retry', ID, 'summarization'],
  ['jobs', 'cancel', ID],
  ['jobs', 'delete', ID],
  ['search', 'red'],
]) {
  test(`a server cannot control the terminal of steno ${args.slice(0, 2).join(' ')}`, async () => {
    const { port } = server.address() as AddressInfo
    const env = { STENO_URL: `http://127.0.0.1:${port}`, STENO_KEY: 'key' }
    const { stdout, stderr } = await runHere(args, env)
    const text = stdout + stderr
    assert.match(text, /red/)
    assert.doesNotMatch(text.replaceAll('\n', ''), /\p{C}/u)
  })
}
