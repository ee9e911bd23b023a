import { readConfig } from '../../config/config.ts'
import { createTransferRate } from '../../models/download/transfer-rate.ts'
import { checkBackup } from '../../storage/backup/check-backup.ts'
import { listSnapshots } from '../../storage/backup/manifest.ts'
import { type BackupStage, takeBackup } from '../../storage/backup/take-backup.ts'
import { inMegabytes } from '../models/install-progress.ts'
import { makeFilesPrivate } from '../server/private-files.ts'
import {
  parseArguments,
  parseNumberOption,
  readSettings,
  UsageError,
} from '../terminal/arguments.ts'
import { createProgressDisplay } from '../terminal/progress-display.ts'
import type { Command, Terminal } from '../terminal/terminal.ts'
import { keyFileHelp, keyFileOption, readKeyFile } from './key-file.ts'

const help = `Usage: steno backup DIR [--keep N] [--key-file FILE]
       steno backup DIR --check [--key-file FILE]
       steno backup DIR --list

Adds a snapshot of the data folder STENO_DATA_DIR to the folder DIR, which it creates, while a server may
be running: the database at one point in time, and the recordings, results and open live sessions that belong
to it. Recordings and results that DIR already has are not copied again. After an interruption run the
same command again. 'steno restore' restores a data folder from a snapshot.

  --check          reads and verifies all of DIR; the exit code is 1 if anything is damaged or missing
  --list           lists the snapshots, oldest first
  --keep N         removes all but the newest N snapshots; default 7
${keyFileHelp}
DIR must not be inside the data folder; another disk is better. DIR contains signing secrets and
all recordings; only your user can read its files. With STENO_DATABASE_URL or STENO_OBJECT_STORE
use the tools of the database and of the object store, see docs/operations.md.
`

/** `steno backup`: copies the data folder of this machine. */
export const backupCommand: Command = {
  help,
  async run(args, terminal) {
    const { values, positionals } = parseArguments(args, {
      check: { type: 'boolean' },
      list: { type: 'boolean' },
      keep: { type: 'string' },
      ...keyFileOption,
    })
    const [target] = positionals
    if (target === undefined || positionals.length > 1) throw new UsageError('name one folder')
    if (values.check && values.list) throw new UsageError('--check and --list exclude each other')
    if ((values.check || values.list) && values.keep !== undefined) {
      throw new UsageError('--keep is for a new snapshot')
    }
    if (values.list) return list(target, terminal)
    const key = await readKeyFile(values['key-file'])
    if (values.check) return check({ target, key }, terminal)
    const keep = parseNumberOption(values.keep, { name: 'keep', fallback: 7, min: 1 })
    return runTakeBackup({ target, key, keep }, terminal)
  },
}

async function list(target: string, { stdout, stderr }: Terminal): Promise<number> {
  const snapshots = await listSnapshots(target)
  stdout.write(snapshots.map((name) => `${name}\n`).join(''))
  if (snapshots.length === 0) stderr.write(`Cannot find a snapshot in ${target}\n`)
  return snapshots.length === 0 ? 1 : 0
}

type BackupTarget = { target: string; key: Uint8Array | undefined }

async function runTakeBackup(
  { target, key, keep }: BackupTarget & { keep: number },
  { env, stderr, signal }: Terminal,
): Promise<number> {
  const { folder, database, objectStore, zeroRetention } = readSettings(readConfig, env).storage
  if (database || objectStore) {
    const setting = database ? 'STENO_DATABASE_URL' : 'STENO_OBJECT_STORE'
    throw new UsageError(
      `cannot back up with ${setting}: first dump the database (pg_dump), then copy the bucket or the data folder, see docs/operations.md`,
    )
  }
  makeFilesPrivate()
  const progress = createProgressDisplay(stderr)
  const rateOf = createTransferRate()
  function onProgress(stage: BackupStage, done: number, total: number): void {
    if (stage !== 'copying objects') {
      progress.show(folder, { stage })
      return
    }
    const speed = rateOf(done)
    progress.show(folder, {
      stage,
      fraction: total === 0 ? 1 : done / total,
      detail: `of ${inMegabytes(total)}`,
      secondsLeft: speed ? (total - done) / speed : null,
    })
  }
  try {
    const options = { folder, target, key, keep, zeroRetention, signal, onProgress }
    const { snapshot, objects, size, copied, missing } = await takeBackup(options)
    progress.end(folder)
    progress.printLine(
      `Snapshot ${snapshot}: ${objects} recordings and results, ${inMegabytes(size)} in all, of which ${copied.objects} (${inMegabytes(copied.size)}) were new`,
    )
    for (const id of missing) progress.printLine(`The data folder has lost the object ${id}`)
    return missing.length > 0 ? 1 : 0
  } finally {
    progress.end(folder)
  }
}

async function check({ target, key }: BackupTarget, { stderr, signal }: Terminal): Promise<number> {
  const progress = createProgressDisplay(stderr)
  const onProgress = (done: number, total: number) => {
    const detail = `of ${inMegabytes(total)}`
    progress.show(target, { stage: 'reading', fraction: total === 0 ? 1 : done / total, detail })
  }
  try {
    const { snapshots, files, size, problems, unlisted } = await checkBackup({
      target,
      key,
      signal,
      onProgress,
    })
    progress.end(target)
    for (const problem of problems) progress.printLine(problem)
    const read = `${snapshots} snapshots, ${files} files, ${inMegabytes(size)}`
    progress.printLine(problems.length === 0 ? `${read}: all as written` : `${read}: damaged`)
    if (unlisted > 0) {
      progress.printLine(
        `The next backup copies ${unlisted} recordings and results again, if the data folder has them`,
      )
    }
    return problems.length === 0 ? 0 : 1
  } finally {
    progress.end(target)
  }
}
