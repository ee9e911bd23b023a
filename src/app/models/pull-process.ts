/**
 * A process that pulls one model: a conversion takes memory and several seconds of processor time.
 */
import { setPriority } from 'node:os'
import type { CatalogModel } from '../../models/catalog.ts'
import type { ModelSources } from '../../models/download/addresses.ts'
import { DownloadError } from '../../models/download/download-error.ts'
import type { InstallStep } from '../../models/install/install.ts'
import { pullModel } from '../../models/pull.ts'
import { conversions } from './conversions.ts'

/** The model to pull, its sources, and the folder to install it in. */
export type ToPull = { folder: string; model: CatalogModel; sources: ModelSources }

/** Progress, a retry, or the outcome of a pull. `isPublic`: users may see the problem. */
export type FromPull =
  | { step: InstallStep }
  | { problem: string; isPublic: boolean }
  | { retry: string }
  | { done: true }

/** The niceness of the process: recognition and live sessions have priority. */
const NICENESS = 10
/**
 * The shortest time between two reports of a stage, since downloads report thousands of times a
 * second.
 */
const STEP_INTERVAL_MS = 200

process.on('disconnect', () => process.exit())
// Ctrl-C reaches all processes of a terminal; the server alone decides when work ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
setPriority(NICENESS)

process.once('message', async ({ folder, model, sources }: ToPull) => {
  let [sentAt, stage] = [Number.NEGATIVE_INFINITY, '']
  const onStep = (step: InstallStep) => {
    const now = performance.now()
    if (step.stage === stage && now - sentAt < STEP_INTERVAL_MS) return
    sentAt = now
    stage = step.stage
    send({ step })
  }
  const onRetry = (problem: string) => send({ retry: problem })
  const { signal } = new AbortController()
  try {
    await pullModel(folder, model, { sources, conversions, signal, onStep, onRetry })
    send({ done: true })
  } catch (error) {
    const { message, cause } = error as Error
    send({ problem: message, isPublic: cause instanceof DownloadError })
  }
})

function send(message: FromPull): void {
  process.send?.(message)
}
