/** The error for a database that this program may not use as it is, with the way out. */
export function wrongVersion(found: number | undefined, known: number): Error {
  const has = found === undefined ? 'no tables of this program' : `version ${found}`
  const text = `Cannot open the database: it has ${has}, this program knows version ${known}`
  return new Error(`${text}${wayOut(found, known)}`)
}

function wayOut(found: number | undefined, known: number): string {
  if (found === undefined) return ''
  if (found > known) return '; start the newer program that made it, or restore an older backup'
  return '; a server of this program migrates it when it starts'
}
