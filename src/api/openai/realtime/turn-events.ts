import { randomUUID } from 'node:crypto'
import { toLogprobs } from '../../../transcript/logprobs.ts'
import type { UtteranceView } from '../../../transcript/utterance-view.ts'
import type { RealtimeVersion } from './session-settings.ts'

/** An event for the client, without its id. */
export type RealtimeEvent = { type: string } & Record<string, unknown>

/** What was recognized in a turn; times in seconds. */
export type TurnUtterance = Pick<UtteranceView, 'text' | 'words' | 'start' | 'end'>

/** One turn of a speaker, as the client sees it: a conversation item that gets its transcript. */
type RealtimeTurn = {
  id: string
  sentText: string
  previousWords: readonly string[]
  isCommitted: boolean
  /** When its speech ended, in seconds; until then infinite. */
  endSeconds: number
}

/** What a turn becomes in which no word was recognized. */
const nothing: TurnUtterance = { text: '', words: [], start: 0, end: 0 }

/** The form of the events of turns. */
export type TurnOptions = { version: RealtimeVersion; logprobs: boolean }

/**
 * Converts the turns of one session to OpenAI's events. A partial may change, a delta may not: a
 * word is sent once two consecutive partials agree on it and on all words before it. The transcript
 * of a completed turn is valid, even where it differs from its deltas.
 */
export class RealtimeTurns {
  readonly #options: TurnOptions
  /** The turns without a complete transcript. The speaker may still continue the last one. */
  readonly #incompleteTurns: RealtimeTurn[] = []
  #previousItemId: string | null = null
  /** Whether no turn has begun since the start, or since the client last ended a session. */
  #isSilent = true

  constructor(options: TurnOptions) {
    this.#options = options
  }

  /** Returns the events when speech starts, `seconds` after the start of the session. */
  speechStarted(seconds: number): RealtimeEvent[] {
    const turn = this.#begin()
    const audio_start_ms = Math.round(seconds * 1000)
    return [{ type: 'input_audio_buffer.speech_started', audio_start_ms, item_id: turn.id }]
  }

  /** Returns the events when speech ends, `seconds` after the start of the session. */
  speechStopped(seconds: number): RealtimeEvent[] {
    const turn = this.#currentTurn ?? this.#begin()
    turn.endSeconds = seconds
    const audio_end_ms = Math.round(seconds * 1000)
    const event = { type: 'input_audio_buffer.speech_stopped', audio_end_ms, item_id: turn.id }
    return [event, ...this.#commit(turn)]
  }

  /** Returns the delta of the words that this partial and the previous one agree on, if any. */
  partial(utterance: TurnUtterance): RealtimeEvent[] {
    const turn = this.#turnOf(utterance)
    const texts = utterance.words.map(({ word }) => word)
    const firstDifference = texts.findIndex((word, i) => word !== turn.previousWords[i])
    const agreed = texts
      .slice(0, firstDifference < 0 ? texts.length : firstDifference)
      .join('')
      .trim()
    turn.previousWords = texts
    return this.#continue(turn, agreed)
  }

  /** Returns the events that complete the turn of an utterance; turns before it get no text. */
  final(utterance: TurnUtterance): RealtimeEvent[] {
    const turn = this.#turnOf(utterance)
    const textless = this.#incompleteTurns.splice(0, this.#incompleteTurns.indexOf(turn))
    this.#incompleteTurns.shift()
    return [
      ...textless.flatMap((one) => this.#complete(one, nothing)),
      ...this.#complete(turn, utterance),
    ]
  }

  /**
   * Returns the events that complete, without text, what remains of a session that the client has
   * ended. One without speech is a turn, too, because the client waits for one.
   */
  ended(): RealtimeEvent[] {
    if (this.#isSilent) this.#begin()
    this.#isSilent = true
    return this.#incompleteTurns.splice(0).flatMap((one) => this.#complete(one, nothing))
  }

  #complete(turn: RealtimeTurn, utterance: TurnUtterance): RealtimeEvent[] {
    const transcript = utterance.text.trim()
    const { logprobs } = this.#options
    const seconds = Math.max(0, utterance.end - utterance.start)
    return [
      ...this.#commit(turn),
      ...this.#continue(turn, transcript),
      {
        type: 'conversation.item.input_audio_transcription.completed',
        item_id: turn.id,
        content_index: 0,
        transcript,
        ...(logprobs && { logprobs: toLogprobs([utterance]) }),
        usage: { type: 'duration', seconds: Math.round(seconds * 1000) / 1000 },
      },
    ]
  }

  /** Returns the events of a turn that the client has ended, from all finals of its session. */
  committed(utterances: readonly TurnUtterance[]): RealtimeEvent[] {
    const words = utterances.flatMap((utterance) => utterance.words)
    const text = utterances.map((utterance) => utterance.text.trim()).join(' ')
    const end = utterances.reduce((sum, utterance) => sum + utterance.end - utterance.start, 0)
    return this.final({ words, text, start: 0, end })
  }

  get #currentTurn(): RealtimeTurn | undefined {
    return this.#incompleteTurns.find(({ isCommitted }) => !isCommitted)
  }

  /** Returns the turn in which an utterance was spoken: the first that had not ended before it. */
  #turnOf({ start }: TurnUtterance): RealtimeTurn {
    return this.#incompleteTurns.find(({ endSeconds }) => endSeconds > start) ?? this.#begin()
  }

  #begin(): RealtimeTurn {
    const id = `item_${randomUUID().replaceAll('-', '')}`
    const state = { sentText: '', previousWords: [], isCommitted: false, endSeconds: Infinity }
    const turn: RealtimeTurn = { id, ...state }
    this.#incompleteTurns.push(turn)
    this.#isSilent = false
    return turn
  }

  #commit(turn: RealtimeTurn): RealtimeEvent[] {
    if (turn.isCommitted) return []
    turn.isCommitted = true
    const previous_item_id = this.#previousItemId
    this.#previousItemId = turn.id
    const content = [{ type: 'input_audio', transcript: null }]
    const item = { id: turn.id, type: 'message', role: 'user', status: 'completed', content }
    const names =
      this.#options.version === 'beta'
        ? ['conversation.item.created']
        : ['conversation.item.added', 'conversation.item.done']
    return [
      { type: 'input_audio_buffer.committed', previous_item_id, item_id: turn.id },
      ...names.map((type) => ({ type, previous_item_id, item })),
    ]
  }

  #continue(turn: RealtimeTurn, text: string): RealtimeEvent[] {
    if (text === turn.sentText || !text.startsWith(turn.sentText)) return []
    const delta = text.slice(turn.sentText.length)
    turn.sentText = text
    const type = 'conversation.item.input_audio_transcription.delta'
    return [{ type, item_id: turn.id, content_index: 0, delta }]
  }
}
