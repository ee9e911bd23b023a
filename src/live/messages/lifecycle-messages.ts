import type { LiveParams } from '../live-params.ts'
import { routingOf, type ServerMessage, writeMessage } from './server-messages.ts'

/** How the callback of a session hears of its creation, at a moment in milliseconds; undefined when it is not to. */
export function startMessage(
  params: Record<string, unknown>,
  { id, at }: { id: string; at: number },
): string | undefined {
  return forCallback({ type: 'start_session' }, params, { id, at })
}

/** How it hears of the end of a session that failed. */
export function endMessage(
  params: Record<string, unknown>,
  { id, at }: { id: string; at: number },
): string | undefined {
  return forCallback({ type: 'end_session' }, params, { id, at })
}

function forCallback(
  message: ServerMessage,
  params: Record<string, unknown>,
  { id, at }: { id: string; at: number },
): string | undefined {
  if (!routingOf(params as LiveParams).isForCallback(message)) return undefined
  return writeMessage(message, { sessionId: id, at })
}
