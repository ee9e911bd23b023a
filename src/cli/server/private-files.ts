/**
 * Makes whatever this process creates from now on readable for its user alone: the data folder holds what
 * people said. Only for commands that write there; what `transcribe` writes is the user's own.
 */
export function makeFilesPrivate(): void {
  process.umask(0o077)
}
