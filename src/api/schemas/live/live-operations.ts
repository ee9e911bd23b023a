import type { ApiOperation } from '../common/operations.ts'

const socket = `
**The socket.** Connect to \`url\` as it is, without a key; the same address serves every later connection. A newer
connection replaces an older one (close 4409).

- *You send* audio as binary messages, or as \`{"type":"audio_chunk","data":{"chunk":"<base64>"}}\`: samples little endian,
  channels interleaved, with or without a WAV header. \`{"type":"stop_recording"}\`, or a close with 1000, says that no
  more follows.
- *You get* JSON texts with \`type\`, \`session_id\` and \`created_at\`, of the kinds that \`messages_config\` selects.
  \`audio_chunk\` acknowledges audio that is safely stored: \`byte_range\` is half-open and counts from the first byte of
  the session. \`speech_start\`, \`speech_end\` and \`transcript\` name their channel; a transcript with \`is_final\` false is the
  whole text so far and may change.
- *After the stop* come the last transcripts, \`end_recording\`, \`post_transcript\`, \`post_final_transcript\`, \`end_session\`,
  and close 1000; by then the job is \`done\` and its recording is there.
- *A lost connection* leaves the session open for a while. Connect again and send what was not acknowledged; with
  \`&offset=N\` you say which byte of the session comes next. Messages that may not have arrived come again, unchanged.

Closes: 1000 the end, 1009 message too large, 1011 internal error, 1012 the server restarts, 1013 overloaded, 4400 misuse,
4401 token unknown or expired, 4408 time limit, 4409 replaced, 4410 ended or deleted, 4500 failed. After 1009 to 1013, or
a lost connection, connect again; after the others do not.`

/**
 * Describes the creation of a live session, with the protocol of its socket, for which OpenAPI has
 * no section.
 */
export const liveCreationOperation: ApiOperation = {
  tags: ['Live'],
  operationId: 'createLive',
  summary: 'Create a live session',
  description: `Returns the address of a socket, to which the client must connect within some minutes. The body may be \`{}\`.\n${socket}`,
}

/** Describes the update of the metadata of a session. */
export const patchOperation: ApiOperation = {
  tags: ['Live'],
  operationId: 'patchLive',
  summary: 'Update the metadata of a live session',
  description:
    'Replaces its `post_session_metadata` by the field of that name or, where there is none, by the whole body. Works in every state. The `failure` of a failed session stays.',
}
