import type { ApiUtterance } from '../client/api-types.ts'
import { formatShortClock } from '../terminal/format-clock.ts'
import { sanitizeLines } from '../terminal/sanitize.ts'
import type { Terminal } from '../terminal/terminal.ts'
import type { TranscriptMessage, TranslationData } from './live-api-types.ts'

/** The display of a session: finals as lines, the open utterance as a line that is overwritten. */
export type LiveScreen = {
  show(transcript: TranscriptMessage['data']): void
  /** Prints a translation; it follows its final, unless other lines came between. */
  translated(translation: TranslationData): void
  /** Prints a line about the session that is not part of its transcript. */
  printLine(line: string): void
  /** Removes the line that is overwritten. */
  clear(): void
}

/**
 * Options of the screen: the number of channels of the session, and whether finals go to stdout.
 */
export type ScreenOptions = { channels: number; writesFinals: boolean }

/**
 * Creates a screen. Finals go to stdout, with their time if it is a terminal. Partials go to a
 * terminal, if there is one: preferably stderr, so that they are visible while stdout goes to a
 * file.
 */
export function createLiveScreen(
  {
    stdout,
    stderr,
    env = {},
  }: Pick<Terminal, 'stdout' | 'stderr'> & Partial<Pick<Terminal, 'env'>>,
  { channels, writesFinals }: ScreenOptions,
): LiveScreen {
  const terminal = stderr.isTTY ? stderr : stdout.isTTY ? stdout : undefined
  /** The open utterances by id; the one that changed last is the last entry. */
  const open = new Map<string, string>()

  function label({ start, channel, text }: ApiUtterance, isTimed: boolean): string {
    const time = isTimed ? `${formatShortClock(start)}  ` : ''
    const from = channels > 1 ? `Channel ${channel + 1}: ` : ''
    return `${time}${from}${printable(text)}`
  }

  function draw(): void {
    if (!terminal) return
    const last = [...open.values()].at(-1)
    terminal.write('\r\u001b[K')
    if (last === undefined) return
    // Leaves one column free: a full row would make the terminal open a new line.
    const width = Math.max(20, (terminal.columns || 80) - 1)
    const text = cutStart(last, width)
    // https://no-color.org: gray counts as a color.
    terminal.write(env.NO_COLOR ? text : `\u001b[2m${text}\u001b[22m`)
  }

  function clear(): void {
    terminal?.write('\r\u001b[K')
  }

  return {
    show({ id, is_final, utterance }) {
      open.delete(id)
      if (!is_final) {
        open.set(id, label(utterance, true))
      } else if (writesFinals && utterance.text.trim() !== '') {
        clear()
        stdout.write(`${label(utterance, stdout.isTTY === true)}\n`)
      }
      draw()
    },
    translated({ target_language, translated_utterance }) {
      if (!writesFinals) return
      clear()
      const text = label(translated_utterance, stdout.isTTY === true)
      stdout.write(`${printable(`[${target_language}]`)} ${text}\n`)
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

/**
 * Shortens a line that does not fit: drops the text between the time and the newest words, which
 * matter most.
 */
function cutStart(line: string, width: number): string {
  const characters = [...line]
  if (characters.length <= width) return line
  const head = characters.slice(0, line.indexOf('  ') + 2)
  return [...head, '…', ...characters.slice(characters.length - width + head.length + 1)].join('')
}

/** Removes control characters: text from another server must not control the terminal. */
function printable(text: string): string {
  return text.trim().replace(/\p{Cc}/gu, '?')
}
