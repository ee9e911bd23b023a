/**
 * Start of the messages of a live session in the text of its result, where they are the last field.
 * No string contains this text, since its quotes would be escaped as `\"`, and no deeper object has
 * such a key.
 */
const MESSAGES_START = ',"messages":['

/** Returns the text of a live result without its messages; nothing is parsed. */
export function removeMessages(result: string): string {
  const at = result.indexOf(MESSAGES_START)
  return at < 0 ? result : `${result.slice(0, at)}}`
}

/** Yields a live result without its messages, from chunks; what follows them is not read. */
export async function* removeMessagesFromChunks(
  result: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let pendingBytes = Buffer.alloc(0)
  for await (const bytes of result) {
    const chunk = Buffer.concat([pendingBytes, bytes])
    const at = chunk.indexOf(MESSAGES_START)
    if (at >= 0) {
      yield chunk.subarray(0, at)
      yield Buffer.from('}')
      return
    }
    // The key may begin in this chunk and end in the next.
    const end = Math.max(0, chunk.length - MESSAGES_START.length + 1)
    yield chunk.subarray(0, end)
    pendingBytes = chunk.subarray(end)
  }
  yield pendingBytes
}
