import assert from 'node:assert/strict'
import test from 'node:test'
import { findVersionErrors, releaseNotes, type VersionFiles } from './versions.ts'

const ready: VersionFiles = {
  manifest: { name: 'steno-server', version: '1.2.3', repository: 'github:some/steno' },
  lock: { name: 'steno-server', version: '1.2.3', packages: { '': { version: '1.2.3' } } },
  changelog: '# Changelog\n\n## 1.2.3 (2026-03-04)\n\n- News.\n\n## 1.2.2 (2026-03-03)\n',
  tags: ['v1.2.2'],
}

test('a version whose files agree has no release errors', () => {
  assert.deepEqual(findVersionErrors(ready), [])
})

test('a version that is already tagged may be released from its own tag', () => {
  assert.deepEqual(findVersionErrors({ ...ready, tags: ['v1.2.3'], tag: 'v1.2.3' }), [])
})

test('the release notes are the changelog entry of the version', () => {
  assert.equal(releaseNotes(ready.changelog), '- News.\n')
})

const wrong: [string, Partial<VersionFiles>, RegExp][] = [
  ['no version', { manifest: { ...ready.manifest, version: '1.2' } }, /1\.2 is no version/],
  ['an old lock file', { lock: { ...ready.lock, packages: {} } }, /^package-lock\.json/],
  [
    'no entry',
    { changelog: '# Changelog\n\n## 1.2.2 (2026-03-03)\n' },
    /first entry is 1\.2\.2, not/,
  ],
  ['an empty changelog', { changelog: '' }, /first entry is missing/],
  ['an entry without a date', { changelog: '## 1.2.3 (not released yet)\n' }, /needs its date/],
  ['a released version', { tags: ['v1.2.3'] }, /tag v1\.2\.3 exists/],
  ['another tag', { tags: ['v1.2.4'], tag: 'v1.2.4' }, /tag v1\.2\.4 is not v1\.2\.3/],
  ['no repository', { manifest: { name: 'steno-server', version: '1.2.3' } }, /no repository/],
]
for (const [name, change, problem] of wrong) {
  test(`${name} prevents a release`, () => {
    const problems = findVersionErrors({ ...ready, ...change })
    assert.ok(
      problems.some((one) => problem.test(one)),
      problems.join('\n'),
    )
  })
}
