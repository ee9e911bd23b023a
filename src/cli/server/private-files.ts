/**
 * Makes all files that this process creates from now on accessible to its user only: the data
 * folder contains transcripts and recordings. For commands that write there; the output of
 * `transcribe` keeps the user's permissions.
 */
export function makeFilesPrivate(): void {
  process.umask(0o077)
}
