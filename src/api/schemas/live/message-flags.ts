import { Type } from '../common/type.ts'

/** Whether each kind of message is sent by default, on the socket and to the callback. */
const defaults = {
  receive_partial_transcripts: { socket: false, callback: false },
  receive_final_transcripts: { socket: true, callback: true },
  receive_speech_events: { socket: true, callback: false },
  receive_pre_processing_events: { socket: true, callback: true },
  receive_realtime_processing_events: { socket: true, callback: true },
  receive_post_processing_events: { socket: true, callback: true },
  receive_acknowledgments: { socket: true, callback: false },
  receive_errors: { socket: true, callback: false },
  receive_lifecycle_events: { socket: false, callback: true },
}

const descriptions: Record<keyof typeof defaults, string> = {
  receive_partial_transcripts: 'The message `transcript` while its text may still change',
  receive_final_transcripts: 'The message `transcript` whose text is final',
  receive_speech_events: '`speech_start` and `speech_end`',
  receive_pre_processing_events: 'The server has no such messages yet',
  receive_realtime_processing_events:
    '`translation`, `named_entity_recognition`, `sentiment_analysis`',
  receive_post_processing_events:
    '`post_transcript`, `post_summarization`, `post_audio_to_llm`, `post_final_transcript`',
  receive_acknowledgments: '`audio_chunk` and `stop_recording` that were accepted',
  receive_errors: 'Every message that reports an error, of whatever type',
  receive_lifecycle_events:
    '`start_recording`, `end_recording`, `end_session`; to a callback also `start_session`',
}

/** Who receives messages: the client on its socket, or its callback URL. */
export type Receiver = 'socket' | 'callback'

/** Returns the default of each flag for a receiver. */
export function flagDefaults(receiver: Receiver): Record<string, boolean> {
  const flags = Object.entries(defaults).map(([name, flag]) => [name, flag[receiver]] as const)
  return Object.fromEntries(flags)
}

/** Defines a switch for each kind of message. */
export function messageFlags(receiver: Receiver) {
  const names = Object.keys(defaults) as (keyof typeof defaults)[]
  const flags = names.map((name) => {
    const description = descriptions[name]
    return [name, Type.Boolean({ default: defaults[name][receiver], description })] as const
  })
  return Object.fromEntries(flags)
}
