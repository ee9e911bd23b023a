import { createLog } from '../../src/log.ts'
import { ResultBuilder } from '../../src/text/result/result-builder.ts'

let shared: ResultBuilder | undefined

/**
 * Returns the result builder of this test process. Its thread loads the word lists once for all
 * servers and services of the process, which takes longer than most tests, and writes no log.
 */
export function sharedResultBuilder(): ResultBuilder {
  shared ??= new ResultBuilder({ log: createLog('silent') })
  return shared
}
