import { createLog } from '../../../src/observability/log.ts'
import { LiveText } from '../../../src/text/live/live-text.ts'
import { ResultBuilder } from '../../../src/text/result/result-builder.ts'
import { connectInProcess } from '../storage/databases/in-process-sqlite.ts'

/** Seconds that a text step may take: the machine may be busy. */
const TIMEOUT = 120

let resultBuilder: ResultBuilder | undefined
let liveText: LiveText | undefined

/**
 * Returns the result builder of this test process. Its thread loads the word lists once for all
 * servers and services of the process, which takes longer than most tests, and writes no log.
 */
export function sharedResultBuilder(): ResultBuilder {
  resultBuilder ??= new ResultBuilder({ log: createLog('silent'), timeout: TIMEOUT })
  return resultBuilder
}

/**
 * Returns parts for a server that starts in a third of the time: the threads of this test process,
 * and a database without threads.
 */
export function sharedParts() {
  liveText ??= new LiveText({ log: createLog('silent'), timeout: TIMEOUT })
  return { resultBuilder: sharedResultBuilder(), liveText, connect: connectInProcess }
}
