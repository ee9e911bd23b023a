/**
 * How the messages of a live session begin in the text of its result, where they are the last field.
 * No string holds this text, for its quotes are written `\"` there, and no deeper object has such a key.
 */
const BEGIN = ',"messages":['

/** The text of a live result without its messages; nothing is parsed. */
export function removeMessages(result: string): string {
  const at = result.indexOf(BEGIN)
  return at < 0 ? result : `${result.slice(0, at)}}`
}

/** The same for a text that is read in pieces; what follows is not read. */
export async function* removeMessagesFromChunks(
  result: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let held = Buffer.alloc(0)
  for await (const bytes of result) {
    const piece = Buffer.concat([held, bytes])
    const at = piece.indexOf(BEGIN)
    if (at >= 0) {
      yield piece.subarray(0, at)
      yield Buffer.from('}')
      return
    }
    // It may begin in this piece and end in the next.
    const end = Math.max(0, piece.length - BEGIN.length + 1)
    yield piece.subarray(0, end)
    held = piece.subarray(end)
  }
  yield held
}
