import { createTransferRate } from '../../models/download/transfer-rate.ts'
import type { InstallStep } from '../../models/install/install.ts'
import type { ProgressDisplay } from '../terminal/progress-display.ts'

/** The minimum time between two updates: bytes arrive thousands of times a second. */
const REDRAW_MS = 100

/**
 * Returns a function that shows the steps of an installation, with speed and time left while bytes
 * arrive.
 */
export function showInstallation(
  name: string,
  progress: ProgressDisplay,
): (step: InstallStep) => void {
  let rateOf = createTransferRate()
  let last: { at: number; bytes: number } | undefined
  return (step) => {
    if (step.stage === 'converting') {
      return progress.show(name, { stage: 'converting', fraction: step.fraction })
    }
    if (!('bytes' in step)) {
      rateOf = createTransferRate()
      last = undefined
      const stage = step.stage === 'waiting' ? 'waiting for another process' : step.stage
      return progress.show(name, { stage })
    }
    const { stage, bytes, total } = step
    const now = performance.now()
    if (last && now - last.at < REDRAW_MS && bytes >= last.bytes && bytes < total) return
    last = { at: now, bytes }
    const speed = rateOf(bytes)
    progress.show(name, {
      stage,
      fraction: bytes / total,
      detail: `of ${inMegabytes(total)}${speed === undefined ? '' : `, ${inMegabytes(speed)}/s`}`,
      secondsLeft: speed ? (total - bytes) / speed : null,
    })
  }
}

/** Formats bytes as `12.3 MB`, `668 MB` or `1.6 GB`. */
export function inMegabytes(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`
  return `${(bytes / 1e6).toFixed(bytes >= 1e8 ? 0 : 1)} MB`
}
