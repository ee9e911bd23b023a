/**
 * Makes all files that this process creates from now on readable for its user alone: the data
 * folder holds transcripts and recordings. Only for commands that write there; the output of
 * `transcribe` belongs to the user.
 */
export function makeFilesPrivate(): void {
  process.umask(0o077)
}
