import { sanitize, sanitizeLines } from './sanitize.ts'
import type { Output } from './terminal.ts'

/** The progress of one recording or model. `fraction` and `detail` refer to the named stage. */
export type ProgressStep = {
  stage: string
  fraction?: number | null
  /** A text that follows the fraction. */
  detail?: string
  secondsLeft?: number | null
}

/** Displays progress: as one line that is overwritten, or as plain lines in a log. */
export type ProgressDisplay = {
  show(name: string, step: ProgressStep): void
  /** Stops showing this name. */
  end(name: string): void
  /** Prints a line that stays, or several lines of a message, each safe to print. */
  printLine(line: string): void
  /** Removes the overwritten line, before other output. */
  clear(): void
}

/** How often a line about a running stage is written to a log. */
const PLAIN_LINE_MS = 10_000

/** Creates the display for `stderr`: overwritten on a terminal, otherwise plain lines. */
export function createProgressDisplay(stderr: Output): ProgressDisplay {
  return stderr.isTTY ? createOverwrittenLine(stderr) : createPlainLines(stderr)
}

function createOverwrittenLine(stderr: Output): ProgressDisplay {
  const steps = new Map<string, ProgressStep>()
  const clear = () => void stderr.write('\r\u001b[K')
  const draw = () => {
    clear()
    const first = steps.entries().next().value
    if (!first) return
    const otherSteps = steps.size > 1 ? ` (and ${steps.size - 1} more)` : ''
    // Leaves one column free: a full row would make the terminal open a new line.
    const width = Math.max(20, (stderr.columns || 80) - 1)
    stderr.write(fitToWidth(first, { others: otherSteps, width }))
  }
  return {
    show(name, step) {
      steps.set(name, step)
      draw()
    },
    end(name) {
      steps.delete(name)
      draw()
    },
    printLine(line) {
      clear()
      stderr.write(`${sanitizeLines(line)}\n`)
      draw()
    },
    clear,
  }
}

function createPlainLines(stderr: Output): ProgressDisplay {
  const shown = new Map<string, { stage: string; at: number }>()
  return {
    show(name, step) {
      const last = shown.get(name)
      const now = performance.now()
      if (last?.stage === step.stage && now - last.at < PLAIN_LINE_MS) return
      shown.set(name, { stage: step.stage, at: now })
      stderr.write(`${describeStep(name, step)}\n`)
    },
    end: (name) => void shown.delete(name),
    printLine: (line) => void stderr.write(`${sanitizeLines(line)}\n`),
    clear() {},
  }
}

/** A name is shortened to no less than this, so that it can be recognized. */
const MIN_NAME_CHARS = 8

/**
 * Describes a step in one row of `width` characters: drops the number of others first, then
 * shortens the middle of the name.
 */
function fitToWidth(
  [name, step]: [string, ProgressStep],
  { others, width }: { others: string; width: number },
) {
  const fullText = `${describeStep(name, step)}${others}`
  if (fullText.length <= width) return fullText
  const shown = sanitize(name)
  const stepText = describeStep('', step)
  const length = Math.min(shown.length, Math.max(MIN_NAME_CHARS, width - stepText.length))
  if (length >= shown.length) return `${shown}${stepText}`.slice(0, width)
  const head = Math.ceil((length - 1) / 2)
  const short = `${shown.slice(0, head)}…${shown.slice(shown.length - (length - 1 - head))}`
  return `${short}${stepText}`.slice(0, width)
}

/** Formats `talk.mp3: transcribing 43 %, about 1 min 10 s left`. */
function describeStep(
  name: string,
  { stage, fraction, detail, secondsLeft }: ProgressStep,
): string {
  const percent = typeof fraction === 'number' ? ` ${Math.floor(fraction * 100)} %` : ''
  const detailText = detail === undefined ? '' : ` ${sanitize(detail)}`
  const timeLeft =
    typeof secondsLeft === 'number' ? `, about ${formatSeconds(secondsLeft)} left` : ''
  return `${sanitize(name)}: ${sanitize(stage)}${percent}${detailText}${timeLeft}`
}

/**
 * Formats seconds as `0 s`, `8 s`, `2 min 5 s` or `1 h 3 min`; less than one second counts as one.
 */
export function formatSeconds(seconds: number): string {
  const wholeSeconds = seconds === 0 ? 0 : Math.max(1, Math.round(seconds))
  if (wholeSeconds < 60) return `${wholeSeconds} s`
  if (wholeSeconds < 3600) return `${Math.floor(wholeSeconds / 60)} min ${wholeSeconds % 60} s`
  return `${Math.floor(wholeSeconds / 3600)} h ${Math.floor((wholeSeconds % 3600) / 60)} min`
}
