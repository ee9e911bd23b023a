/** Returns the error for a database whose version this program cannot use, with the remedy. */
export function wrongVersion(storedVersion: number | undefined, knownVersion: number): Error {
  const has = storedVersion === undefined ? 'no tables of this program' : `version ${storedVersion}`
  const text = `Cannot open the database: it has ${has}, this program supports version ${knownVersion}`
  return new Error(`${text}${remedyFor(storedVersion, knownVersion)}`)
}

function remedyFor(storedVersion: number | undefined, knownVersion: number): string {
  if (storedVersion === undefined) return ''
  if (storedVersion > knownVersion)
    return '; start the newer program that made it, or restore an older backup'
  return '; a server of this program migrates it when it starts'
}
