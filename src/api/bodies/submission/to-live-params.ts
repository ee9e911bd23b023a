import type { Config } from '../../../config/config.ts'
import type { LiveRequest } from '../../schemas/live/live-request.ts'
import { flagDefaults } from '../../schemas/live/message-flags.ts'
import {
  diarizationConfigOf,
  dropAbsent,
  languageConfigOf,
  vocabularyConfigOf,
  wantsCallback,
} from './to-pre-recorded-params.ts'

/**
 * Returns the parameters of a session, as `request_params` shows them: every field with its
 * default, and those configurations that the client gave.
 */
export function toLiveParams(
  request: LiveRequest,
  { defaultLabel }: Pick<Config['models'], 'defaultLabel'>,
): Record<string, unknown> {
  return dropAbsent({
    encoding: request.encoding,
    bit_depth: bitDepthOf(request),
    sample_rate: request.sample_rate,
    channels: request.channels,
    model: request.model ?? defaultLabel,
    endpointing: request.endpointing,
    maximum_duration_without_endpointing: request.maximum_duration_without_endpointing,
    language_config: languageConfigOf(request),
    pre_processing: request.pre_processing,
    realtime_processing: realtimeProcessingOf(request),
    post_processing: postProcessingOf(request),
    messages_config: request.messages_config,
    callback: wantsCallback(request),
    callback_config: callbackConfigOf(request),
  })
}

/** Samples of A-law and µ-law have 8 bits, although clients declare 16. */
function bitDepthOf({ encoding, bit_depth }: LiveRequest): number {
  return encoding === 'wav/pcm' ? bit_depth : 8
}

function realtimeProcessingOf({ realtime_processing: requested }: LiveRequest) {
  const { words_accurate_timestamps: _, ...used } = requested
  return dropAbsent({
    ...used,
    custom_vocabulary: requested.custom_vocabulary !== false,
    custom_vocabulary_config: vocabularyConfigOf(requested),
    diarization_config: diarizationConfigOf(requested),
  })
}

function postProcessingOf({ post_processing }: LiveRequest) {
  const { chapterization_config: _, ...used } = post_processing
  return used
}

/** The older `callback_url` applies only without `callback_config`. */
function callbackConfigOf({ callback_config, callback_url }: LiveRequest) {
  if (callback_url === undefined) return callback_config
  return { url: callback_url, ...(callback_config ?? flagDefaults('callback')) }
}
