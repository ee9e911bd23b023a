import { randomUUID } from 'node:crypto'
import { toLogprobs } from '../../../transcript/logprobs.ts'
import type { UtteranceView } from '../../../transcript/utterance-view.ts'
import type { RealtimeVersion } from './session-settings.ts'

/** An event for the client, without its id. */
export type RealtimeEvent = { type: string } & Record<string, unknown>

/** What was recognized in a turn; times in seconds. */
export type TurnUtterance = Pick<UtteranceView, 'text' | 'words' | 'start' | 'end'>

/** One turn of a speaker, as the client sees it: a conversation item that gets its transcript. */
type RealtimeTurn = { id: string; sent: string; before: readonly string[]; isCommitted: boolean }

/** The form of the events of turns. */
export type TurnOptions = { dialect: RealtimeVersion; logprobs: boolean }

/**
 * Tells the turns of one session in OpenAI's events. A partial may change, a delta may not: a word
 * is sent once two partials in a row agree on it and on all words before. The transcript of a
 * completed turn counts, whatever its deltas said.
 */
export class RealtimeTurns {
  readonly #options: TurnOptions
  /** Turns whose transcript is not complete: the last one may still go on. */
  readonly #open: RealtimeTurn[] = []
  #previous: string | null = null

  constructor(options: TurnOptions) {
    this.#options = options
  }

  started(seconds: number): RealtimeEvent[] {
    const turn = this.#begin()
    const audio_start_ms = Math.round(seconds * 1000)
    return [{ type: 'input_audio_buffer.speech_started', audio_start_ms, item_id: turn.id }]
  }

  stopped(seconds: number): RealtimeEvent[] {
    const turn = this.#going ?? this.#begin()
    const audio_end_ms = Math.round(seconds * 1000)
    const event = { type: 'input_audio_buffer.speech_stopped', audio_end_ms, item_id: turn.id }
    return [event, ...this.#commit(turn)]
  }

  partial({ words }: TurnUtterance): RealtimeEvent[] {
    const turn = this.#open[0] ?? this.#begin()
    const texts = words.map(({ word }) => word)
    const differs = texts.findIndex((word, i) => word !== turn.before[i])
    const agreed = texts
      .slice(0, differs < 0 ? texts.length : differs)
      .join('')
      .trim()
    turn.before = texts
    return this.#continue(turn, agreed)
  }

  final(utterance: TurnUtterance): RealtimeEvent[] {
    const turn = this.#open[0] ?? this.#begin()
    this.#open.shift()
    const transcript = utterance.text.trim()
    const { logprobs } = this.#options
    const seconds = Math.max(0, utterance.end - utterance.start)
    return [
      ...this.#commit(turn),
      ...this.#continue(turn, transcript),
      {
        type: 'conversation.item.input_audio_transcription.completed',
        ...{ item_id: turn.id, content_index: 0, transcript },
        ...(logprobs && { logprobs: toLogprobs([utterance]) }),
        usage: { type: 'duration', seconds: Math.round(seconds * 1000) / 1000 },
      },
    ]
  }

  /** A client that ends its turns itself has one turn, whose finals come together. */
  committed(utterances: readonly TurnUtterance[]): RealtimeEvent[] {
    const words = utterances.flatMap((utterance) => utterance.words)
    const text = utterances.map((utterance) => utterance.text.trim()).join(' ')
    const end = utterances.reduce((sum, utterance) => sum + utterance.end - utterance.start, 0)
    return this.final({ words, text, start: 0, end })
  }

  get #going(): RealtimeTurn | undefined {
    return this.#open.find(({ isCommitted }) => !isCommitted)
  }

  #begin(): RealtimeTurn {
    const id = `item_${randomUUID().replaceAll('-', '')}`
    const turn = { id, sent: '', before: [], isCommitted: false }
    this.#open.push(turn)
    return turn
  }

  #commit(turn: RealtimeTurn): RealtimeEvent[] {
    if (turn.isCommitted) return []
    turn.isCommitted = true
    const previous_item_id = this.#previous
    this.#previous = turn.id
    const content = [{ type: 'input_audio', transcript: null }]
    const item = { id: turn.id, type: 'message', role: 'user', status: 'completed', content }
    const names =
      this.#options.dialect === 'beta'
        ? ['conversation.item.created']
        : ['conversation.item.added', 'conversation.item.done']
    return [
      { type: 'input_audio_buffer.committed', previous_item_id, item_id: turn.id },
      ...names.map((type) => ({ type, previous_item_id, item })),
    ]
  }

  #continue(turn: RealtimeTurn, text: string): RealtimeEvent[] {
    if (text === turn.sent || !text.startsWith(turn.sent)) return []
    const delta = text.slice(turn.sent.length)
    turn.sent = text
    const type = 'conversation.item.input_audio_transcription.delta'
    return [{ type, item_id: turn.id, content_index: 0, delta }]
  }
}
