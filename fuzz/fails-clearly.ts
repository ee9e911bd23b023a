import assert from 'node:assert/strict'

/** Errors of the language, which indicate a case that the code does not handle. */
const UNEXPECTED = /^(Type|Range|Syntax|Reference|URI)Error$/

/**
 * Asserts that `read` succeeds or fails with an error for users, which has the name `name` if
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
