import { randomUUID } from 'node:crypto'
import { toLogprobs } from '../../../transcript/logprobs.ts'
import type { UtteranceView } from '../../../transcript/utterance-view.ts'
import type { RealtimeVersion } from './session-settings.ts'

/** An event for the client, without its id. */
export type RealtimeEvent = { type: string } & Record<string, unknown>

/** What was recognized in a turn; times in seconds. */
export type TurnUtterance = Pick<UtteranceView, 'text' | 'words' | 'language' | 'start' | 'end'>

/** What a turn becomes when it is complete. */
type Completion = Omit<TurnUtterance, 'language'> & { languages: readonly string[] }

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
const nothing: Completion = { text: '', words: [], languages: [], start: 0, end: 0 }

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

  /** Whether somebody speaks whose turn has not ended. */
  get isSpeaking(): boolean {
    return this.#currentTurn !== undefined
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

  /**
   * Returns the delta of the words that this partial and the previous one agree on, if any. The
   * earlier finals of the turn are those of a turn that the client ends.
   */
  partial(utterance: TurnUtterance, finals: readonly TurnUtterance[] = []): RealtimeEvent[] {
    const turn = this.#turnOf(utterance)
    const texts = utterance.words.map(({ word }) => word)
    const firstDifference = texts.findIndex((word, i) => word !== turn.previousWords[i])
    const agreed = texts
      .slice(0, firstDifference < 0 ? texts.length : firstDifference)
      .join('')
      .trim()
    turn.previousWords = texts
    return agreed ? this.#continue(turn, joinTexts([...finals, { text: agreed }])) : []
  }

  /** Returns the delta of the last final in a turn that the client has not ended yet. */
  spoken(finals: readonly TurnUtterance[]): RealtimeEvent[] {
    return this.#continue(this.#turnOf(finals.at(-1)!), joinTexts(finals))
  }

  /** Returns the events that complete the turn of an utterance; turns before it get no text. */
  final(utterance: TurnUtterance): RealtimeEvent[] {
    return this.#completeTurnOf({ ...utterance, languages: [utterance.language] })
  }

  #completeTurnOf(completion: Completion): RealtimeEvent[] {
    const turn = this.#turnOf(completion)
    const textless = this.#incompleteTurns.splice(0, this.#incompleteTurns.indexOf(turn))
    this.#incompleteTurns.shift()
    return [
      ...textless.flatMap((one) => this.#complete(one, nothing)),
      ...this.#complete(turn, completion),
    ]
  }

  /**
   * Returns the events that complete, without text, what remains of a session that has ended. One
   * without speech that the client has committed is a turn, too, because the client waits for one.
   */
  ended({ isCommitted }: { isCommitted: boolean }): RealtimeEvent[] {
    if (this.#isSilent && isCommitted) this.#begin()
    this.#isSilent = true
    return this.#incompleteTurns.splice(0).flatMap((one) => this.#complete(one, nothing))
  }

  /** Forgets the turn of audio that the client has withdrawn. */
  discarded(): void {
    this.#incompleteTurns.length = 0
    this.#isSilent = true
  }

  #complete(turn: RealtimeTurn, completion: Completion): RealtimeEvent[] {
    const transcript = completion.text.trim()
    const { logprobs } = this.#options
    const seconds = Math.max(0, completion.end - completion.start)
    return [
      ...this.#commit(turn),
      ...this.#continue(turn, transcript),
      {
        type: 'conversation.item.input_audio_transcription.completed',
        item_id: turn.id,
        content_index: 0,
        transcript,
        languages: completion.languages.map((code) => ({ code })),
        ...(logprobs && { logprobs: toLogprobs([completion]) }),
        usage: { type: 'duration', seconds: Math.round(seconds * 1000) / 1000 },
      },
    ]
  }

  /** Returns the events of a turn that the client has ended, from all finals of its session. */
  committed(utterances: readonly TurnUtterance[]): RealtimeEvent[] {
    const words = utterances.flatMap((utterance) => utterance.words)
    const text = joinTexts(utterances)
    const languages = [...new Set(utterances.map(({ language }) => language))]
    const end = utterances.reduce((sum, utterance) => sum + utterance.end - utterance.start, 0)
    return this.#completeTurnOf({ words, text, languages, start: 0, end })
  }

  get #currentTurn(): RealtimeTurn | undefined {
    return this.#incompleteTurns.find(({ isCommitted }) => !isCommitted)
  }

  /** Returns the turn in which an utterance was spoken: the first that had not ended before it. */
  #turnOf({ start }: Pick<TurnUtterance, 'start'>): RealtimeTurn {
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

function joinTexts(parts: readonly Pick<TurnUtterance, 'text'>[]): string {
  const texts = parts.map(({ text }) => text.trim())
  return texts.filter((text) => text !== '').join(' ')
}
