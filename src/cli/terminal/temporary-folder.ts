import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../../errors.ts'

/** Creates a folder for temporary files, which the caller removes. */
export async function makeTemporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'steno-')).catch((cause) => {
    const remedy = 'set TMPDIR to a folder that can be written'
    throw new Error(`Cannot create temporary files: ${messageOf(cause)}; ${remedy}`, { cause })
  })
}
