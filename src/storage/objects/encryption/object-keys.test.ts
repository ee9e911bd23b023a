import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { makeFolder } from '../../../../test/support/storage/test-storage.ts'
import { loadObjectKeys, parseObjectKeys } from './object-keys.ts'

const [one, two] = [randomBytes(32).toString('base64'), randomBytes(40).toString('base64')]

test('the first key is current, and each is found by its id', async (t) => {
  const file = join(await makeFolder(t), 'keys')
  await writeFile(file, `# of May\n${one}\n\n  ${two}\n`)
  const keys = (await loadObjectKeys({ file }))!
  assert.deepEqual(Buffer.from(keys.current.secret).toString('base64'), one)
  const [first, second] = [one, two].map((line) => parseObjectKeys(line, 'x').current.id)
  assert.equal(keys.current.id, first)
  assert.equal(Buffer.from(keys.find(second!)!.secret).toString('base64'), two)
  assert.match(first!, /^[0-9a-f]{16}$/)
  assert.equal(keys.find('0'.repeat(16)), undefined)
  assert.equal(await loadObjectKeys({}), undefined)
})

test('object keys may come from a command', async () => {
  const command = `${JSON.stringify(process.execPath)} -e "console.log('${one}')"`
  const keys = await loadObjectKeys({ command })
  assert.equal(Buffer.from(keys!.current.secret).toString('base64'), one)
})

test('invalid keys are rejected without showing them', async (t) => {
  const file = join(await makeFolder(t), 'keys')
  for (const text of ['', '# nothing\n', 'c2hvcnQ=', 'not base64 at all, but long enough to be']) {
    await writeFile(file, text)
    await assert.rejects(loadObjectKeys({ file }), (error: Error) => {
      assert.match(
        error.message,
        /^(Cannot find a key in|Each line of) .*keys.* \(STENO_OBJECT_KEY_FILE\)/,
      )
      assert.ok(text === '' || !error.message.includes(text))
      return true
    })
  }
  await assert.rejects(
    loadObjectKeys({ file: `${file}.missing` }),
    /Cannot read .*\(STENO_OBJECT_KEY_FILE\): ENOENT/,
  )
  const command = `${JSON.stringify(process.execPath)} -e "console.error('${one}');process.exit(3)"`
  await assert.rejects(loadObjectKeys({ command }), (error: Error) => {
    assert.equal(error.message, 'STENO_OBJECT_KEY_COMMAND ended with code 3')
    return true
  })
})
