import assert from 'node:assert/strict'

/** Errors of the language, which mean that code met what its author had not thought of. */
const UNEXPECTED = /^(Type|Range|Syntax|Reference|URI)Error$/

/**
 * Lets `read` succeed, or fail with an error that someone wrote for users: of this name if one is
 * given.
 */
export async function failsClearly(read: () => unknown, name?: string): Promise<void> {
  try {
    await read()
  } catch (error) {
    const { name: found, stack } = error as Error
    if (name !== undefined) assert.equal(found, name, stack)
    else assert.doesNotMatch(found, UNEXPECTED, stack)
  }
}
