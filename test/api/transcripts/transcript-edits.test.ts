import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { ApiTranscriptEdits } from '../../../src/cli/client/api-types.ts'
import { insertKey } from '../../../src/storage/accounts/keys.ts'
import { findJob } from '../../../src/storage/jobs/jobs.ts'
import { readResult, replaceResult } from '../../../src/storage/jobs/results.ts'
import { insertTranscriptVersion } from '../../../src/storage/jobs/transcript-edits.ts'
import type { StoredResult } from '../../../src/text/result/stored-result.ts'
import { runHere } from '../../support/cli/run-here.ts'
import { addDoneJob } from '../../support/jobs/done-job.ts'
import { call, type ErrorBody } from '../../support/net/http-client.ts'
import { OTHER_KEY, startServer, type TestServer } from '../../support/server/start-server.ts'
import { utteranceOf } from '../../support/text/utterance-of.ts'

let server: TestServer
before(async () => {
  server = await startServer()
})
after(() => server.close())

const spoken = [
  utteranceOf('we sale the bred', { speaker: 0 }),
  utteranceOf('is it fresh', { start: 4, speaker: 1 }),
]
const fix = {
  op: 'replace_words',
  utterance: 0,
  expected: 'we sale the bred',
  text: 'We sell the bread.',
}

async function open(kind: 'pre-recorded' | 'live' = 'pre-recorded') {
  const path = `/v2/${kind}/${await addDoneJob(server, spoken, { kind })}`
  const edits = `${path}/transcript/edits`
  return {
    path,
    id: path.split('/').at(-1)!,
    patch: <T = { version: number }>(base_version: number, ...operations: object[]) =>
      call<T>(server, edits, { method: 'PATCH', json: { base_version, operations } }),
    read: async (query = '') => (await call<ApiTranscriptEdits>(server, edits + query)).body,
    text: async (query = '') => (await call<string>(server, `${path}/transcript${query}`)).body,
  }
}

test('corrections apply to every format, and the job result is unchanged', async () => {
  const { path, patch, text } = await open()
  const job = (await call(server, path)).body
  const asMade = await text('?format=srt')
  const names = [
    { op: 'name_speaker', speaker: 0, name: 'Ann' },
    { op: 'name_speaker', speaker: 1, name: 'Bo & Co' },
  ]
  const { status, body } = await patch<Record<string, unknown>>(0, fix, ...names)
  assert.equal(status, 200)
  const { created_at: _, ...version } = body
  assert.deepEqual(version, { version: 1, key_name: null, operations: 3, restored: null })

  assert.equal(await text(), 'Ann: We sell the bread.\nBo & Co: is it fresh\n')
  assert.match(
    await text('?format=srt'),
    /^1\n00:00:00,000 --> 00:00:01,900\nAnn: We sell the bread/,
  )
  assert.match(await text('?format=vtt'), /<v Bo &amp; Co>is it fresh/)
  assert.match(await text('?format=docx'), /^PK/)
  const json = (await text('?format=json&words=true')) as unknown as { utterances: object[] }
  const { words: _words, ...first } = json.utterances[0] as { words: object[] }
  assert.deepEqual(_words[1], {
    word: ' sell',
    start: 0.5,
    end: 0.9,
    confidence: 1,
    source: 1,
    edited: true,
  })
  assert.deepEqual(first, {
    start: 0,
    end: 1.9,
    confidence: 0.875,
    channel: 0,
    speaker: 0,
    speaker_name: 'Ann',
    language: 'en',
    text: 'We sell the bread.',
    source: { utterance: 0, from: 0, to: 4 },
  })
  assert.equal(await text('?format=srt&edited=false'), asMade)
  assert.deepEqual((await call(server, path)).body, job)
})

test('versions are listed and restored, and created only from the current one', async () => {
  const { patch, read, text } = await open('live')
  assert.deepEqual(await read(), {
    version: 0,
    versions: [],
    edits: { words: [], speakers: [], joined: [], names: [], ignored: false },
  })
  await patch(0, fix)
  await patch(1, { op: 'delete_words', utterance: 1, expected: 'is it fresh' })
  assert.equal(await text('?edited=true'), 'We sell the bread.\n')
  const late = await patch<ErrorBody>(1, fix)
  assert.deepEqual([late.status, late.headers.get('x-error-code')], [409, 'edits_outdated'])
  assert.match(late.body.message, /the current version is 2/)

  assert.equal((await patch(2, { op: 'restore', version: 1 })).body.version, 3)
  assert.equal(await text(), 'Speaker 1: We sell the bread.\nSpeaker 2: is it fresh\n')
  const { version, versions, edits } = await read('?versions=2')
  assert.equal(version, 3)
  assert.deepEqual(
    versions.map(({ version, restored, operations }) => [version, restored, operations]),
    [
      [3, 1, 0],
      [2, null, 1],
    ],
  )
  const { words } = edits
  assert.deepEqual(
    words.map(({ expected, text }) => [expected, text]),
    [
      ['we', 'We'],
      ['sale', 'sell'],
      ['bred', 'bread.'],
    ],
  )
  assert.equal((await patch(3, { op: 'restore', version: 0 })).status, 200)
  assert.equal(await text(), await text('?edited=false'))
})

test('of concurrent corrections one is stored', async () => {
  const { patch, read } = await open()
  const responses = await Promise.all([0, 1, 2].map(() => patch(0, fix)))
  assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 409, 409])
  assert.equal((await read()).versions.length, 1)
})

test('invalid corrections are rejected and not stored', async () => {
  const { patch, read } = await open()
  const refused = async (status: number, code: string, ...operations: object[]) => {
    const { headers, ...answer } = await patch<ErrorBody>(0, ...operations)
    assert.deepEqual([answer.status, headers.get('x-error-code')], [status, code])
    return answer.body
  }
  await refused(409, 'words_changed', fix, { ...fix, utterance: 1 })
  const { message } = await refused(422, 'edit_refused', fix, { ...fix, utterance: 2 })
  assert.match(message, /operations\.1: the transcript has no utterance 2$/)
  await refused(422, 'edit_refused', { op: 'restore', version: 1 })
  const { validation_errors } = await refused(
    ...([400, 'request_invalid'] as const),
    { op: 'replace_words', utterance: 0, expected: 'x', name: 'x' },
    { op: 'restore', version: 0 },
    { op: 'name_speaker', name: 'x' },
  )
  assert.deepEqual(validation_errors, [
    'operations.0.text is required',
    'operations.0.name must not be given with replace_words',
    'operations.1.op must be the only operation',
    'operations.2.speaker or channel must be given, and not both',
  ])
  await refused(400, 'request_invalid')
  await refused(400, 'request_invalid', { ...fix, text: 'x'.repeat(20_001) })
  await refused(400, 'request_invalid', ...Array.from({ length: 501 }, () => fix))
  assert.equal((await read()).version, 0)
})

test('corrections survive changed add-ons, and are skipped where words changed', async () => {
  const { id, patch, read, text } = await open()
  await patch(0, fix)
  const { db } = server.app.storage
  const change = async (edit: (result: StoredResult) => void) => {
    const job = (await findJob(db, { id, account: 'test' }))!
    const result = JSON.parse((await readResult(db, job.result!))!)
    edit(result)
    assert.ok(await replaceResult(db, { jobId: id, stored: job.result! }, result))
  }
  await change((result) => {
    result.summarization = { success: true }
  })
  assert.match(await text(), /We sell the bread/)
  await change(({ transcription }) => {
    transcription.utterances[0]!.words[0]!.word = 'You'
  })
  assert.equal((await read()).edits.ignored, true)
  assert.match(await text(), /we sale the bred/)
  const refused = await patch(1, { ...fix, utterance: 1, expected: 'is it fresh' })
  assert.equal(refused.headers.get('x-error-code'), 'words_changed')
  assert.equal((await patch(1, { op: 'restore', version: 0 })).status, 200)
  assert.equal((await patch(2, { ...fix, expected: 'You sale the bred' })).status, 200)
  assert.match(await text(), /We sell the bread/)
})

test('the size and number of corrections of a transcript are limited', async () => {
  const made = { createdAt: 1, keyName: null, operations: 1 }
  const long = { ...made, restored: null, changes: 'x'.repeat(8 * 1024 * 1024) }
  const back = { ...made, restored: 0, changes: '' }
  for (const versions of [
    [
      { ...long, version: 1 },
      { ...back, version: 2 },
    ],
    [{ ...back, version: 10_000 }],
  ]) {
    const { id, patch, text } = await open()
    for (const version of versions) {
      const job = { jobId: id, account: 'test' }
      assert.ok(await insertTranscriptVersion(server.app.storage.db, job, version))
    }
    const { status, headers } = await patch(versions.at(-1)!.version, fix)
    assert.deepEqual([status, headers.get('x-error-code')], [413, 'edits_full'])
    assert.match(await text(), /we sale the bred/)
  }
})

test('corrections require a finished job of the account and the scope write', async () => {
  const { path, id, patch } = await open()
  const edits = `${path}/transcript/edits`
  const json = { base_version: 0, operations: [fix] }
  const headers = { 'x-service-key': OTHER_KEY }
  for (const method of ['GET', 'PATCH']) {
    const given = { method, headers, ...(method === 'PATCH' && { json }) }
    assert.equal((await call(server, edits, given)).status, 404)
  }
  assert.equal((await call(server, edits.replace('pre-recorded', 'live'))).status, 404)
  const { sql } = server.app.storage.db
  const setStatus = (status: 'done' | 'processing') =>
    sql.updateTable('jobs').set({ status }).where('id', '=', id).execute()
  await setStatus('processing')
  assert.equal((await patch(0, fix)).status, 422)
  assert.equal((await call(server, edits)).status, 422)
  await setStatus('done')

  for (const scope of ['read', 'write'] as const) {
    const hash = createHash('sha256').update(scope).digest('hex')
    const key = { hash, account: 'test', prefix: scope, createdAt: 1 }
    await insertKey(server.app.storage.db, { ...key, name: `to ${scope}`, scopes: [scope] })
    const given = { method: 'PATCH', headers: { 'x-service-key': scope }, json }
    const { status, body } = await call<{ key_name: string }>(server, edits, given)
    if (scope === 'read') assert.equal(status, 403)
    else assert.equal(body.key_name, 'to write')
  }
  assert.equal((await call(server, path, { method: 'DELETE' })).status, 202)
  assert.equal((await call(server, edits)).status, 404)
})

test('steno jobs prints the corrected or original transcript and its versions', async () => {
  const { id, patch } = await open()
  await patch(0, fix)
  await patch(1, { op: 'restore', version: 0 })
  await patch(2, { op: 'restore', version: 1 })
  const env = { STENO_URL: server.url, STENO_KEY: server.key }
  const jobs = async (...args: string[]) => (await runHere(['jobs', ...args], env)).stdout
  const [edited, plain, versions] = await Promise.all([
    jobs('show', id, '--format', 'txt'),
    jobs('show', id, '--format', 'txt', '--no-edited'),
    jobs('edits', id),
  ])
  assert.match(edited, /^Speaker 1: We sell the bread\.$/m)
  assert.match(plain, /^Speaker 1: we sale the bred$/m)
  assert.match(
    versions,
    /^3 {2}\S+Z {2}restores 1 {2}\(-\)\n2 .*restores 0 .*\n1 .*1 operation {2}/,
  )
})
