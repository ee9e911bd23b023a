/** The error for a database that this program may not use as it is, with the way out. */
export function wrongVersion(storedVersion: number | undefined, knownVersion: number): Error {
  const has = storedVersion === undefined ? 'no tables of this program' : `version ${storedVersion}`
  const text = `Cannot open the database: it has ${has}, this program knows version ${knownVersion}`
  return new Error(`${text}${wayOut(storedVersion, knownVersion)}`)
}

function wayOut(storedVersion: number | undefined, knownVersion: number): string {
  if (storedVersion === undefined) return ''
  if (storedVersion > knownVersion)
    return '; start the newer program that made it, or restore an older backup'
  return '; a server of this program migrates it when it starts'
}
