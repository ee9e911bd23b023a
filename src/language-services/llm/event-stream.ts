/** An event of a stream; `type` is `error` or whatever else the server names it. */
export type StreamEvent = { type: string; data: string }

/**
 * The longest line. An event has a few characters of text; one with a whole escaped response has
 * some 100,000.
 */
const MAX_LINE_CHARS = 256 * 1024

/**
 * Creates a reader of server-sent events whose data has one line each, as chat APIs send them. It
 * accepts events without a blank line between them. The reader returns undefined when a line is too
 * long.
 */
export function createEventReader(): (chunk: string) => StreamEvent[] | undefined {
  let pending = ''
  let type = ''
  return (chunk) => {
    const lines = `${pending}${chunk}`.split(/\r\n|\n|\r/)
    pending = lines.pop()!
    if (pending.length > MAX_LINE_CHARS) return undefined
    const events: StreamEvent[] = []
    for (const line of lines) {
      const [, field, value] = /^(data|event):\s*(.*)$/s.exec(line) ?? []
      if (line === '') type = ''
      else if (field === 'event') type = value!
      else if (field === 'data' && value !== '') events.push({ type, data: value! })
    }
    return events
  }
}
