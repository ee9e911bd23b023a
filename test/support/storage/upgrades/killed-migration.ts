/** Opens a database and kills its own process after the given number of statements. */
import { openSqlite } from '../../../../src/storage/database/sqlite/sqlite.ts'

const [file, statements] = process.argv.slice(2)
let left = Number(statements)

class KillingSignal extends AbortSignal {
  override throwIfAborted(): void {
    if (left-- <= 0) process.kill(process.pid, 'SIGKILL')
  }
}

const signal = Object.setPrototypeOf(new AbortController().signal, KillingSignal.prototype)
await (await openSqlite(file!, { signal })).destroy()
