import { roundTo } from '../../transcript/rounding.ts'
import type { LiveParams } from '../request/live-params.ts'
import { headOf, routingOf, type ServerMessage, writeMessage } from './server-messages.ts'

/**
 * Returns the callback message for the creation of a session at a time in milliseconds since 1970;
 * undefined when the callback does not select it.
 */
export function startMessage(
  params: Record<string, unknown>,
  { id, at }: { id: string; at: number },
): string | undefined {
  return forCallback({ type: 'start_session' }, params, { id, at })
}

/**
 * Returns the callback message for the end of a failed session; undefined when the callback does
 * not select it.
 */
export function endMessage(
  params: Record<string, unknown>,
  { id, at }: { id: string; at: number },
): string | undefined {
  return forCallback({ type: 'end_session' }, params, { id, at })
}

/** Returns the acknowledgment of `stop_recording`; both options are seconds of audio. */
export function stopAcknowledgment({
  received,
  recognized,
}: {
  received: number
  recognized: number
}): ServerMessage {
  const recording_left_to_process = roundTo(Math.max(0, received - recognized), 6)
  const data = { recording_duration: received, recording_left_to_process }
  return { type: 'stop_recording', acknowledged: true, error: null, data }
}

function forCallback(
  message: ServerMessage,
  params: Record<string, unknown>,
  { id, at }: { id: string; at: number },
): string | undefined {
  if (!routingOf(params as LiveParams).isForCallback(headOf(message))) return undefined
  return writeMessage(message, { sessionId: id, at })
}
