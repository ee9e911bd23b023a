import type { TestContext } from 'node:test'
import type { AskOptions } from '../../../src/language-services/llm/ask.ts'
import { createChatClient } from '../../../src/language-services/llm/chat-client.ts'
import { createServiceClient } from '../../../src/net/service-client.ts'
import { type ChatCall, type ChatReply, startChatProvider } from './chat-provider.ts'

/** Opens a model whose provider responds with `reply`; `options` ask it, without memory. */
export async function openChatModel(
  t: TestContext,
  reply: (call: ChatCall, n: number) => ChatReply,
  { contextTokens = 4096, timeout = 20, answerTimeout = 60 } = {},
): Promise<{ calls: ChatCall[]; options: AskOptions }> {
  const { url, calls, close } = await startChatProvider(reply)
  t.after(close)
  const client = createServiceClient({ url, apiKey: 'secret', pauseMs: 1 })
  const model = createChatClient({ client, model: 'tiny', contextTokens, timeout, answerTimeout })
  t.after(() => model.close())
  const memoize = <T>(_part: object, make: () => Promise<T>) => make()
  return { calls, options: { model, memoize, signal: new AbortController().signal } }
}
