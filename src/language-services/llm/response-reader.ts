import type { ReadOutcome } from '../../net/service-client.ts'
import { createEventReader, type StreamEvent } from './event-stream.ts'

type Fields = Record<string, unknown>

/** The response of a provider. */
export type ProviderResponse = {
  content: string
  /** Characters of reasoning that were sent apart from the content. */
  reasoningChars: number
  /** It was ended by the token limit, by a filter, or because it was too long. */
  isCut: boolean
  /** Whether its end was received; if not, it broke off. */
  isWhole: boolean
  /** The token counts of the provider; undefined when it sent none. */
  usage: Fields | undefined
}

/**
 * A reader of one response. `response` returns what was read so far, or its problem; the last line
 * is parsed when its line end arrives.
 */
export type ResponseReader = {
  read(chunk: string): ReadOutcome
  response(): ProviderResponse | { problem: string }
}

type ReaderOptions = {
  /** Maximum characters of a response; one with reasoning may have several times as many. */
  maxChars: number
  /** Whether the token counts follow the text. */
  awaitsUsage: boolean
}

/** The longest response of a provider that does not stream. */
const MAX_JSON_CHARS = 1024 * 1024
/** Each token is an event of up to 400 letters: a response of 10,000 has 4 million. */
const MAX_STREAM_CHARS = 16 * 1024 * 1024
/** Models constrained by a schema may write spaces forever. */
const MAX_BLANKS = 500
const REASONING_FACTOR = 5

const noJson = { problem: 'the answer of the language model is not JSON' }
const tooLarge = { problem: 'the answer of the language model is too large' }
const endedByError = { problem: 'the language model ended its answer with an error' }
const noText = { problem: 'the language model returned no text' }

/**
 * Creates a reader of a chat API's response: events of a stream, or one JSON object of a provider
 * that does not stream. It ignores the content type.
 */
export function createResponseReader(options: ReaderOptions): ResponseReader {
  let start = ''
  let reader: ResponseReader | undefined
  let ended: ReadOutcome | undefined
  return {
    read(chunk) {
      if (ended !== undefined) return ended
      if (!reader) {
        start = `${start}${chunk}`.trimStart()
        if (start === '') return 'waiting'
        // Lines of events begin with data, event, id or retry; comments with a colon.
        reader = /^[deir:]/.test(start) ? createStreamReader(options) : createJsonReader()
      }
      const reading = reader.read(start || chunk)
      start = ''
      if (reading === 'done' || typeof reading === 'object') ended = reading
      return reading
    },
    response: () => (typeof ended === 'object' ? ended : (reader?.response() ?? noJson)),
  }
}

function createJsonReader(): ResponseReader {
  let text = ''
  return {
    read(chunk) {
      text += chunk
      return text.length > MAX_JSON_CHARS ? tooLarge : 'waiting'
    },
    response() {
      const completion = parseFields(text)
      if (!completion) return noJson
      if (isError(completion)) return endedByError
      const choice = firstChoice(completion)
      if (typeof choice.message !== 'object') return noText
      const { text: content, thought } = readMessage(choice.message)
      const usage = usageIn(completion)
      const reasoningChars = thought.length
      return { content, reasoningChars, isCut: isCutBy(choice), isWhole: true, usage }
    },
  }
}

function createStreamReader({ maxChars, awaitsUsage }: ReaderOptions): ResponseReader {
  const response: ProviderResponse = {
    content: '',
    reasoningChars: 0,
    isCut: false,
    isWhole: false,
    usage: undefined,
  }
  const readEvents = createEventReader()
  let chars = 0
  let blanks = 0
  let reasons = false

  function readText({ delta }: Fields): ReadOutcome {
    const { text, thought } = readMessage(delta)
    response.content += text
    response.reasoningChars += thought.length
    if (text !== '') blanks = text.trim() === '' ? blanks + text.length : 0
    reasons ||=
      thought !== '' || (response.content.length < 100 && /^\s*<think>/.test(response.content))
    const max = maxChars * (reasons ? REASONING_FACTOR : 1)
    if (response.content.length + response.reasoningChars > max || blanks > MAX_BLANKS) {
      response.isCut = true
      response.isWhole = true
      return 'done'
    }
    return text.length + thought.length > 0 ? 'progress' : 'waiting'
  }

  function readEvent({ type, data }: StreamEvent): ReadOutcome {
    if (data === '[DONE]') {
      response.isWhole = true
      return 'done'
    }
    const event = parseFields(data)
    if (type === 'error' || (event && isError(event))) return endedByError
    if (!event) return noJson
    response.usage = usageIn(event) ?? response.usage
    const choice = firstChoice(event)
    const reading = readText(choice)
    if (textOrEmpty(choice.finish_reason) !== '') {
      response.isWhole = true
      response.isCut ||= isCutBy(choice)
    }
    return response.isWhole && (response.usage || !awaitsUsage) ? 'done' : reading
  }

  function read(chunk: string): ReadOutcome {
    chars += chunk.length
    const events = chars > MAX_STREAM_CHARS ? undefined : readEvents(chunk)
    let progress: ReadOutcome = 'waiting'
    for (const event of events ?? []) {
      const reading = readEvent(event)
      if (reading === 'done' || typeof reading === 'object') return reading
      if (reading === 'progress') progress = reading
    }
    return events ? progress : tooLarge
  }

  return { read, response: () => response }
}

function parseFields(json: string): Fields | undefined {
  try {
    return fieldsOf(JSON.parse(json))
  } catch {
    return undefined
  }
}

function firstChoice({ choices }: Fields): Fields {
  const all: unknown[] = Array.isArray(choices) ? choices : []
  return fieldsOf(all.find((one) => (fieldsOf(one).index ?? 0) === 0))
}

/** Returns the text of a message or of a piece of one, which may be in parts, and its reasoning. */
function readMessage(message: unknown): { text: string; thought: string } {
  const { content, reasoning, reasoning_content } = fieldsOf(message)
  const parts: unknown[] = Array.isArray(content) ? content : []
  const texts = parts.map((part) => textOrEmpty(fieldsOf(part).text))
  return {
    text: textOrEmpty(content) || texts.join(''),
    thought: textOrEmpty(reasoning_content) || textOrEmpty(reasoning),
  }
}

function isError({ error, object }: Fields): boolean {
  return (error ?? null) !== null || object === 'error'
}

function isCutBy({ finish_reason: reason }: Fields): boolean {
  return reason === 'length' || reason === 'content_filter'
}

function usageIn({ usage }: Fields): Fields | undefined {
  return typeof usage === 'object' && usage !== null ? (usage as Fields) : undefined
}

function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
