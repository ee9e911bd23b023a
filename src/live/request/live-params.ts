import {
  type RecognitionRequest,
  readRecognitionRequest,
} from '../../asr/model-selection/recognition-request.ts'
import type { LiveConfig } from '../../config/live.ts'
import type { TextSession } from '../../text/live/session-text.ts'
import type { FormatParams } from '../input/session-format.ts'
import { type AddOnParams, textParams } from '../messages/realtime-add-ons.ts'
import type { MessageFlags } from '../messages/server-messages.ts'
import type { EndpointerOptions } from '../recognition/endpointing/endpointer.ts'
import type { LanguageConfig } from '../recognition/session-language.ts'
import type { DiarizationParams } from './diarization-params.ts'

/** `request_params` of a live session. */
export type LiveParams = FormatParams &
  AddOnParams &
  DiarizationParams & {
    /** The requested model; sessions of older versions may lack it. */
    model?: string
    endpointing: number
    maximum_duration_without_endpointing: number
    language_config: LanguageConfig
    pre_processing: { audio_enhancer: boolean; speech_threshold: number }
    messages_config: MessageFlags
    callback: boolean
    callback_config?: MessageFlags
  }

/** Returns the endpointing options of a session's parameters. */
export function endpointerOptionsOf(
  params: LiveParams,
  { vadHangover }: LiveConfig,
): EndpointerOptions {
  return {
    threshold: params.pre_processing.speech_threshold,
    hangover: vadHangover,
    endpointing: params.endpointing,
    maxSeconds: params.maximum_duration_without_endpointing,
  }
}

/** Returns the recognition settings that a session requests. */
export function requestOf(params: LiveParams): RecognitionRequest {
  const { realtime_processing, language_config, model } = params
  const modelField = model !== undefined && { model }
  return readRecognitionRequest({ ...realtime_processing, language_config, ...modelField })
}

/**
 * Returns the add-on parameters of a session, and its most likely language out of the requested and
 * installed ones.
 */
export function textSettingsOf(
  params: LiveParams,
  installed: readonly string[],
): Omit<TextSession, 'id' | 'account'> {
  const [language = installed[0]!] = params.language_config.languages
  return { params: textParams(params), language }
}
