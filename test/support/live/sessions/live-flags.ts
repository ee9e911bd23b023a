/** Every message type that a session may select for its socket or its callback. */
export const allFlags = {
  receive_partial_transcripts: true,
  receive_final_transcripts: true,
  receive_speech_events: true,
  receive_pre_processing_events: true,
  receive_realtime_processing_events: true,
  receive_post_processing_events: true,
  receive_acknowledgments: true,
  receive_errors: true,
  receive_lifecycle_events: true,
}
