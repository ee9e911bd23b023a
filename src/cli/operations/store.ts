import { randomUUID } from 'node:crypto'
import { readConfig } from '../../config/config.ts'
import { createTransferRate } from '../../models/download/transfer-rate.ts'
import { createLog } from '../../observability/log.ts'
import { openDirect } from '../../storage/database/direct-access.ts'
import { encryptStore } from '../../storage/objects/encryption/encrypt-store.ts'
import { loadObjectKeys } from '../../storage/objects/encryption/object-keys.ts'
import { openObjects } from '../../storage/storage.ts'
import { type TransferStage, transferStore } from '../../storage/transfer/transfer-store.ts'
import { inMegabytes } from '../models/install-progress.ts'
import { makeFilesPrivate } from '../server/private-files.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import { createProgressDisplay } from '../terminal/progress-display.ts'
import type { Command, Terminal } from '../terminal/terminal.ts'

const help = `Usage: steno store migrate [--restart]
       steno store encrypt

migrate copies the data folder STENO_DATA_DIR: the rows of its database into the PostgreSQL of
STENO_DATABASE_URL, and its recordings and long results into the S3-compatible storage of
STENO_OBJECT_STORE; with one of the two settings, only that part. Then it compares every row and every
object of both sides.

No server may be running on the folder, and the targets must be empty. The folder does not change. After
an interruption the same command continues where it stopped; no server can use the targets before it has
ended.

Options:
  --restart  remove the copies of an interrupted run, and start over

The folders live/ and work/ are not copied: open sessions and started jobs continue if STENO_DATA_DIR
stays the same. orphans/ is not copied either.

encrypt encrypts all recordings and long results with the first key of STENO_OBJECT_KEY_FILE (or of
STENO_OBJECT_KEY_COMMAND): those that are not encrypted yet, and those with another key. That key must still
be in the file. Servers may keep running; first restart all of them with the new key in the first line.
If the command is interrupted, run it again to resume. When it has finished, you can remove the other keys.
`

/** `steno store`: migrates the stored data of a server to other storage, or encrypts it. */
export const storeCommand: Command = {
  help,
  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, { restart: { type: 'boolean' } })
    const action = positionals.join()
    if (action === 'encrypt' && !values.restart) return encrypt(terminal)
    if (action !== 'migrate') throw new UsageError("use 'migrate' or 'encrypt'")
    return migrate(terminal, { isRestarted: values.restart ?? false })
  },
}

async function encrypt({ env, stderr, signal }: Terminal): Promise<number> {
  const { folder, database, objectStore, objectKeys } = readSettings(readConfig, env).storage
  const keys = await loadObjectKeys(objectKeys)
  if (!keys) {
    throw new UsageError(
      'set STENO_OBJECT_KEY_FILE or STENO_OBJECT_KEY_COMMAND to say with which key',
    )
  }
  makeFilesPrivate()
  const log = createLog('silent')
  const db = await openDirect({ folder, database }, { create: false, signal })
  const place = { folder, objectStore, log, signal }
  const stored = await openObjects(place, `encrypt-${randomUUID()}`)
  const progress = createProgressDisplay(stderr)
  const onProgress = (done: number, total: number) => {
    const fraction = total === 0 ? 1 : done / total
    progress.show(folder, { stage: 'encrypting objects', fraction, detail: `of ${total}` })
  }
  try {
    const outcome = await encryptStore({ db, stored, keys, signal, onProgress })
    progress.end(folder)
    progress.printLine(
      `${outcome.encrypted} of ${outcome.total} recordings and results were re-encrypted; all now use the key ${keys.current.id}, and other keys can be removed.`,
    )
    return 0
  } finally {
    progress.end(folder)
    await stored.close?.()
    await db.close()
  }
}

async function migrate(
  { env, stderr, signal }: Terminal,
  { isRestarted }: { isRestarted: boolean },
): Promise<number> {
  const { folder, database, objectStore } = readSettings(readConfig, env).storage
  if (!database && !objectStore) {
    throw new UsageError(
      'set STENO_DATABASE_URL, STENO_OBJECT_STORE, or both: they name the target',
    )
  }
  makeFilesPrivate()
  const progress = createProgressDisplay(stderr)
  let current: { stage: TransferStage; rateOf: (done: number) => number | undefined } | undefined
  function onProgress(stage: TransferStage, done: number, total: number): void {
    if (current?.stage !== stage) current = { stage, rateOf: createTransferRate() }
    const speed = current.rateOf(done)
    progress.show(folder, {
      stage,
      fraction: total === 0 ? 1 : done / total,
      detail: stage.endsWith('rows') ? `of ${total}` : `of ${inMegabytes(total)}`,
      secondsLeft: speed ? (total - done) / speed : null,
    })
  }
  try {
    await transferStore({ folder, database, objectStore, isRestarted, signal, onProgress })
  } finally {
    progress.end(folder)
  }
  const parts = [...(database ? ['steno.sqlite*'] : []), ...(objectStore ? ['objects'] : [])]
  progress.printLine(
    `Everything was copied and compared. Move ${parts.join(' and ')} out of ${folder}, as a backup, ` +
      'and start the server with the same settings.',
  )
  return 0
}
