import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Asserts that the files that a checksum file names are those from which something was built, and
 * what was built. Returns their names.
 */
export function assertBuilt(checksumFile: string): string[] {
  const lines = readFileSync(checksumFile, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [hash, name = ''] = line.split(/ +/)
    const content = readFileSync(join(dirname(checksumFile), name))
    const found = createHash('sha256').update(content).digest('hex')
    assert.equal(found, hash, `${name} has changed: build again`)
    return name
  })
}
