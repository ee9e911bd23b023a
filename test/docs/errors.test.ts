import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { errorCodes, httpStatusOf } from '../../src/errors.ts'

const page = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
const sections = page.split(/^## /m).slice(1)

test('docs/errors.md lists exactly the error codes', () => {
  const listed = sections.map((section) => /^`(\w+)`\n/.exec(section)?.[1])
  assert.deepEqual(listed.sort(), [...errorCodes].sort())
})

for (const code of errorCodes) {
  test(`docs/errors.md gives the status of ${code}, its cause and what to do`, () => {
    const section = sections.find((text) => text.startsWith(`\`${code}\``)) ?? ''
    const [, status, cause = '', advice = ''] =
      /\n\*\*Status\*\* (\d{3})\. (.+)\n\n\*\*What to do\*\*: (.+)\n/s.exec(section) ?? []
    assert.equal(Number(status), httpStatusOf(code))
    assert.ok(cause.length > 20 && advice.length > 20)
  })
}
