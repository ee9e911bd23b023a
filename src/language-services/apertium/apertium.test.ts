import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { chmod, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeFolder } from '../../../test/support/storage/test-storage.ts'
import { ServiceError } from '../service-error.ts'
import { createApertium } from './apertium.ts'

const { signal } = new AbortController()
const APERTIUM = '/usr/bin/apertium'
const hasPair = existsSync(APERTIUM) && existsSync('/usr/share/apertium/modes/eng-spa.mode')
const skip = hasPair ? false : 'Apertium is not installed'
const task = { pair: 'eng-spa', target: 'es' }

/** Creates a translator of a script that stands in for the program. */
async function createStandIn(t: TestContext, script: string) {
  const file = join(await makeFolder(t), 'apertium')
  await writeFile(file, `#!/bin/sh\n${script}\n`)
  await chmod(file, 0o755)
  return createApertium(file, {})
}

test('texts are translated one to one, with placeholders kept', {
  skip,
}, async () => {
  const apertium = createApertium('apertium', {})
  const texts = [
    'My dog is here.',
    'I spoke with [NAME_1] about the house of [NAME_2] and [NAME_1].',
    'The number is ####\nand 1,250 dollars.\u0000',
    '',
  ]
  const [dog, names, number, empty] = await apertium.translate({ ...task, texts }, { signal })
  assert.match(dog!, /^Mi perro .*\.$/)
  assert.deepEqual(names!.match(/\[NAME_\d\]/g), ['[NAME_1]', '[NAME_2]', '[NAME_1]'])
  assert.match(number!, /#### y 1,250 dólares\./)
  assert.equal(empty, '')
})

test('installed pairs map to language codes of the API', { skip }, async () => {
  const pairs = await createApertium(APERTIUM, {}).pairs({ signal })
  assert.deepEqual([pairs.get('en-es'), pairs.get('es-en')], ['eng-spa', 'spa-eng'])
  assert.ok([...pairs.values()].every((name) => /^[a-z]+-[a-z]+$/.test(name)))
})

test('pairs with two- and three-letter codes are read, variants are skipped', async (t) => {
  const apertium = await createStandIn(
    t,
    'echo "  fr-es\n  nob-nno\n  eng-cat_valencia\n  oci-fra"',
  )
  assert.deepEqual(
    [...(await apertium.pairs({ signal }))],
    [
      ['fr-es', 'fr-es'],
      ['no-nn', 'nob-nno'],
      ['oc-fr', 'oci-fra'],
    ],
  )
})

test('if the number of results differs, texts are translated individually', async (t) => {
  // Removes blank lines, as a program that takes them for layout does.
  const apertium = await createStandIn(t, 'tr -s "\\n" | tr a-z A-Z')
  const texts = ['one two', 'three']
  const translated = await apertium.translate({ ...task, texts }, { signal })
  assert.deepEqual(translated, ['ONE TWO', 'THREE'])
})

test('a program that dies is started once more', async (t) => {
  const mark = join(await makeFolder(t), 'started')
  const once = (how: string) => `[ -e ${mark} ] && exec tr a-z A-Z; touch ${mark}; ${how}`
  for (const how of ['kill -9 $$', 'exit 137']) {
    await rm(mark, { force: true })
    const apertium = await createStandIn(t, once(how))
    assert.deepEqual(await apertium.translate({ ...task, texts: ['one'] }, { signal }), ['ONE'])
  }
})

test('a failing, missing or lossy program is reported without the text', async (t) => {
  const texts = ['hello [NAME_1]']
  const fails = (why: RegExp) => (error: unknown) => {
    return error instanceof ServiceError && why.test(error.message) && !/hello/.test(error.message)
  }
  const losing = await createStandIn(t, 'echo adieu')
  await assert.rejects(losing.translate({ ...task, texts }, { signal }), fails(/did not translate/))
  const failing = await createStandIn(t, 'cat >&2; exit 3')
  await assert.rejects(failing.translate({ ...task, texts }, { signal }), fails(/ended with 3/))
  const missing = createApertium('/no/such/program', {})
  await assert.rejects(missing.pairs({ signal }), fails(/cannot be started \(ENOENT\)/))
})
