import { readConfig } from '../../config/config.ts'
import { restoreBackup } from '../../storage/backup/restore-backup.ts'
import { inMegabytes } from '../models/install-progress.ts'
import { makeFilesPrivate } from '../server/private-files.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import { formatDateTime } from '../terminal/date-time.ts'
import { createProgressDisplay } from '../terminal/progress-display.ts'
import type { Command } from '../terminal/terminal.ts'
import { keyFileHelp, keyFileOption, readKeyFile } from './key-file.ts'

const help = `Usage: steno restore DIR [--snapshot NAME] [--account NAME] [--key-file FILE]

Restores the data folder STENO_DATA_DIR, which must be empty or not exist, from a snapshot that 'steno backup'
took, and verifies everything. No server can start on the folder before the command has ended; after
an interruption run the same command again.

  --snapshot NAME  a snapshot that 'steno backup DIR --list' shows; default: the newest
  --account NAME   restores only this account: its jobs, recordings, keys and webhooks
${keyFileHelp}
Keys and webhooks are restored too: keys that were revoked since the backup work again.
`

/** `steno restore`: restores a data folder from a backup. */
export const restoreCommand: Command = {
  help,
  async run(args, { env, stderr, signal }) {
    const { values, positionals } = parseArguments(args, {
      snapshot: { type: 'string' },
      account: { type: 'string' },
      ...keyFileOption,
    })
    const [source] = positionals
    if (source === undefined || positionals.length > 1) throw new UsageError('name one folder')
    const { folder, database, objectStore } = readSettings(readConfig, env).storage
    if (database || objectStore) {
      const setting = database ? 'STENO_DATABASE_URL' : 'STENO_OBJECT_STORE'
      throw new UsageError(
        `cannot restore with ${setting}: restore into a folder without it, then run 'steno store migrate'`,
      )
    }
    makeFilesPrivate()
    const key = await readKeyFile(values['key-file'])
    const { snapshot, account } = values
    const progress = createProgressDisplay(stderr)
    const onProgress = (done: number, total: number) => {
      const isKnown = total > 0
      const detail = isKnown ? `of ${inMegabytes(total)}` : inMegabytes(done)
      const fraction = isKnown ? done / total : null
      progress.show(folder, { stage: 'restoring', fraction, detail })
    }
    try {
      const options = { source, key, folder, snapshot, account, signal, onProgress }
      const restored = await restoreBackup(options)
      progress.end(folder)
      progress.printLine(
        `Restored ${folder} as of ${formatDateTime(restored.takenAt)}, with ${restored.objects} recordings and results`,
      )
      for (const id of restored.missing)
        progress.printLine(`The backup does not have the object ${id}`)
      return restored.missing.length > 0 ? 1 : 0
    } finally {
      progress.end(folder)
    }
  },
}
