import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from '../../../src/observability/log.ts'
import { createFakeSpeechEngine } from '../../support/asr/fake-speech-engine.ts'
import { createToneWav } from '../../support/audio/recordings.ts'
import { openReceiver } from '../../support/delivery/receiver.ts'
import { call, upload } from '../../support/net/http-client.ts'
import { captureLog } from '../../support/server/captured-log.ts'
import { type ChildServer, kill, startChild } from '../../support/server/child-server.ts'
import { startServer } from '../../support/server/start-server.ts'
import { makeFolder } from '../../support/storage/test-storage.ts'

const SAID =
  'Hello, my name is Zofia Wierzbicka, I love this. Wierzbicka called, um, katharina at posteo dot de. ' +
  'I saw Katherine. I like Catherine. Then Catherine left. My card number is four two four two, um, ' +
  '4242 4242 4242. Mail zofia.wierzbicka@posteo.de or call +49 30 901820. Was it 4242? Great!'
/**
 * None of these may be found anywhere, in any letter case; as they stand in a text and in a list of
 * words.
 */
const SECRETS = [
  ...['zofia', 'wierzbicka', 'kathar', 'kather', 'cather', 'posteo', 'two four', ' four', '"four"'],
  ...[' 4242', '"4242', '901820', ' +49', '"+49'],
]

/** Everything that can be asked for beside. */
const everything = {
  sentences: true,
  subtitles: true,
  summarization: true,
  named_entity_recognition: true,
  sentiment_analysis: true,
  moderation: true,
  display_mode: true,
  chapters: true,
  name_consistency: true,
  punctuation_enhanced: true,
  translation: true,
  diarization: true,
  audio_to_llm: true,
  translation_config: { target_languages: ['fr'] },
  audio_to_llm_config: { prompts: ['Who called?'] },
  subtitles_config: { formats: ['srt', 'vtt'] },
  custom_spelling: true,
  custom_spelling_config: { spelling_dictionary: { '!': ['great'] } },
}

function secretsIn(text: string): string[] {
  const lower = text.toLowerCase()
  return SECRETS.filter((secret) => lower.includes(secret))
}

/** The secrets in the bytes of each file of a folder, whatever it is. */
async function secretsInFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const found: string[] = []
  for (const { parentPath, name } of entries.filter((entry) => entry.isFile())) {
    const bytes = await readFile(join(parentPath, name)).catch(emptyIfGone)
    const texts = [bytes.toString('latin1'), bytes.toString('utf16le')]
    texts.push(bytes.subarray(1).toString('utf16le'))
    for (const secret of texts.flatMap(secretsIn)) found.push(`${secret} in ${name}`)
  }
  return found
}

/** A file that the server has deleted or renamed since it was listed. */
function emptyIfGone(error: NodeJS.ErrnoException): Buffer {
  if (error.code !== 'ENOENT') throw error
  return Buffer.alloc(0)
}

type View = { id: string; status: string; error_code: number | null; result: Result | null }
type Envelope = { success: boolean; results: unknown }
type Result = Record<string, Envelope> & {
  transcription: { full_transcript: string; subtitles: { subtitles: string }[] }
}

/** Starts a server; with `log`, its threads are its own, which takes a second. */
async function start(t: TestContext, log?: Log) {
  const receiver = await openReceiver()
  t.after(() => receiver.close())
  const server = await startServer({
    speech: createFakeSpeechEngine(SAID),
    ...(log && { log }),
    env: { STENO_WEBHOOKS: `test=${receiver.url}/account` },
  })
  let open = true
  const close = async () => {
    if (open) await server.app.close()
    open = false
  }
  t.after(() => server.close())
  async function run(fields: Record<string, unknown>): Promise<View> {
    const audio_url = await upload(server, createToneWav(12, 2))
    const callback_config = { url: `${receiver.url}/job` }
    const json = { audio_url, ...everything, callback: true, callback_config, ...fields }
    const { status, body } = await call<View>(server, '/v2/pre-recorded', { json })
    assert.equal(status, 201, JSON.stringify(body))
    await server.app.jobs.idle()
    await server.app.delivery.idle()
    return (await call<View>(server, `/v2/pre-recorded/${body.id}`)).body
  }
  return { server, receiver, run, close }
}

for (const processed_text_type of ['MARKER', 'MASK'] as const) {
  test(`no redacted text remains when a job has ended: ${processed_text_type}`, async (t) => {
    const { log, lines } = captureLog()
    const { server, receiver, run, close } = await start(t, log)
    const config = { processed_text_type }
    const job = await run({ pii_redaction: true, pii_redaction_config: config })
    assert.equal(job.status, 'done')
    assert.deepEqual(secretsIn(JSON.stringify(job)), [])

    const { transcription, named_entity_recognition } = job.result!
    const sign = processed_text_type === 'MARKER' ? '[NAME_1]' : '##### ##########'
    assert.ok(transcription.full_transcript.includes(`my name is ${sign}, I love this.`))
    const [srt, vtt] = transcription.subtitles
    assert.ok(srt!.subtitles.includes(sign) && vtt!.subtitles.includes(sign))
    const entities = named_entity_recognition!.results as { entity_type: string; text: string }[]
    assert.deepEqual(entities[0]!.text, sign)
    assert.ok(job.result!.summarization!.success)
    for (const name of ['sentences', 'sentiment_analysis', 'display_mode']) {
      assert.ok(job.result![name]!.success, name)
      assert.ok(JSON.stringify(job.result![name]).includes(sign.split(' ')[0]!), name)
    }

    assert.equal(receiver.at('/job').length, 1)
    assert.ok(receiver.at('/account').length > 0)
    assert.deepEqual(secretsIn(receiver.received.map(({ body }) => body).join()), [])
    assert.deepEqual(secretsIn(JSON.stringify(lines)), [])
    assert.deepEqual(await secretsInFiles(server.folder), [])
    await close()
    assert.deepEqual(await secretsInFiles(server.folder), [])
  })
}

test('changes of a redacted name are reported without the name', async (t) => {
  const { run } = await start(t)
  const { result } = await run({ pii_redaction: true })
  const changes = JSON.parse(String(result!.name_consistency!.results)) as { from: string }[]
  assert.ok(changes.length > 0 && changes.every(({ from }) => from === '[REDACTED]'))
})

test('without redaction the words are found on disk and in callbacks', async (t) => {
  const { server, receiver, run } = await start(t)
  await run({ pii_redaction: false, pii_redaction_config: { processed_text_type: 'MASK' } })
  assert.ok((await secretsInFiles(server.folder)).length > 0)
  assert.ok(secretsIn(receiver.received.map(({ body }) => body).join()).length > 5)
})

test('a job in a language without redaction fails and shows no words', async (t) => {
  const languages = ['en', 'fr']
  const engine = createFakeSpeechEngine(SAID, { languages })
  const { log, lines } = captureLog()
  const speech: typeof engine = {
    ...engine,
    runBatch: (batch, options) => engine.runBatch({ ...batch, language: 'fr' }, options),
  }
  const server = await startServer({ speech, log })
  t.after(() => server.close())
  const json = { audio_url: await upload(server, createToneWav(3)), pii_redaction: true }
  const { body } = await call<View>(server, '/v2/pre-recorded', { json })
  await server.app.jobs.idle()
  const { body: job } = await call<View>(server, `/v2/pre-recorded/${body.id}`)
  assert.deepEqual([job.status, job.error_code, job.result], ['error', 500, null])
  assert.deepEqual(secretsIn(JSON.stringify([job, lines])), [])
  assert.deepEqual(await secretsInFiles(server.folder), [])
})

async function untilEnded(server: ChildServer, id: string): Promise<View> {
  for (;;) {
    await call(server, `/v2/pre-recorded/${id}/progress?wait=10`)
    const { body } = await call<View>(server, `/v2/pre-recorded/${id}`)
    if (body.status === 'done' || body.status === 'error') return body
  }
}

test('a server killed during recognition leaves nothing unredacted after the job', async (t) => {
  const folder = await makeFolder(t)
  const env = { FAKE_TEXT: SAID, FAKE_BATCH_MS: '300' }
  const first = (await startChild(t, folder, { env }))!
  // However slow all else is, the job does not end before it is killed.
  const database = new DatabaseSync(join(folder, 'steno.sqlite'), { timeout: 10_000 })
  t.after(() => database.close())
  database.exec(`create trigger held before update of result on jobs
    begin select raise(fail, 'held'); end`)
  const json = {
    audio_url: await upload(first, createToneWav(20)),
    pii_redaction: true,
    ...everything,
  }
  const { body } = await call<View>(first, '/v2/pre-recorded', { json })
  // What was heard is kept for the next attempt as long as the job is not at its end.
  while ((await secretsInFiles(folder)).length === 0) await delay(10)
  await kill(first)
  assert.ok((await secretsInFiles(folder)).length > 0)
  database.exec('drop trigger held')

  const second = (await startChild(t, folder, { env }))!
  const job = await untilEnded(second, body.id)
  assert.equal(job.status, 'done')
  assert.deepEqual(secretsIn(JSON.stringify(job)), [])
  // The folder of the job goes right after its end.
  while ((await readdir(join(folder, 'work'))).length > 0) await delay(10)
  assert.deepEqual(await secretsInFiles(folder), [])
})
