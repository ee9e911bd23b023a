import type { ChannelMode } from '../audio/channels/choose-sources.ts'
import type { AppError } from '../errors.ts'
import type { CatalogModel } from '../models/catalog.ts'
import type { PullProgress, QueuedPullOptions } from '../models/pull-queue.ts'
import type { Transcript, Utterance, Word } from '../transcript/transcript.ts'
import type {
  LanguageProbability,
  RecognitionSettings,
  RecognizerInfo,
  Segment,
} from './engines/recognizer.ts'
import type { LiveEngine } from './live-engine/live-engine.ts'
import type { RecognitionRequest } from './model-selection/recognition-request.ts'
import type { LanguageIdentification, ModelSelection } from './model-selection/select-models.ts'

/**
 * The recognition result of one segment. Word times are seconds from the start of the recording.
 */
export type RecognizedSegment = {
  segment: Segment
  words: Word[]
  /** The id of the recognizer, with its revision where it is known: `id@revision`. */
  model: string
  language: string
  /** Voiced seconds that stay without words after the retries. */
  uncovered: number
  /** Options the engine had to ignore. */
  warnings: string[]
}

/** A mono file of 16-bit little-endian samples at 16 kHz, as the decoder writes it. */
export type PcmFile = { path: string; samples: number }

/** The samples of one channel of a recording. */
export type ChannelPcm = PcmFile & { channel: number }

/** The channels with distinct audio, and the folder for the files to recognize. */
export type GroupChannelsTask = {
  channels: readonly ChannelPcm[]
  mode: ChannelMode
  /**
   * The center channel, which holds the dialog of a film; undefined if the recording cannot be a
   * film.
   */
  center?: number | undefined
  folder: string
}

/**
 * A file to recognize, as a channel of the result. `sourceChannels` are all channels that hold its
 * speech: those of its group, and those into which it leaks.
 */
export type ChannelToRecognize = ChannelPcm & { sourceChannels: number[] }

/** Segments of one channel that are recognized together, and how. Plain data. */
export type Batch = RecognitionSettings & {
  channel: number
  /** The file with the samples of the channel. */
  path: string
  segments: readonly Segment[]
}

/** A channel, and the seconds after which its segments are cut. */
export type SpeechPart = { channel: number; maxSeconds: number }

/**
 * Returns the checkpointed speech of a channel; if there is none, calls `find` and checkpoints the
 * result.
 */
export type CheckpointSpeech = (
  part: SpeechPart,
  find: () => Promise<Segment[]>,
) => Promise<Segment[]>

/** Segments of a file whose languages are identified. Plain data. */
export type IdentifyTask = {
  path: string
  segments: readonly Segment[]
  /** The id of the recognizer that identifies. */
  model: string
  /** The languages to choose from. */
  languages: readonly string[]
  /** Whether the language may change within a segment. */
  isMixed: boolean
}

/**
 * A part of a segment in one language, in samples; the most probable languages of it come first.
 */
export type LanguageSpan = {
  start: number
  end: number
  /** Seconds of speech, without pauses. */
  seconds: number
  probabilities: LanguageProbability[]
}

/**
 * Segments of a file to translate into English: in one language, of at most `MAX_TRANSLATED`
 * seconds.
 */
export type SpeechTranslationTask = { path: string; segments: readonly Segment[]; language: string }

/** A `SpeechTranslationTask` with the id of the recognizer that translates. Plain data. */
export type TranslateTask = SpeechTranslationTask & { model: string }

/** The longest segment that recognizers translate as one, in seconds: Whisper takes 30. */
export const MAX_TRANSLATED = 28

/** An identification task with its channel. */
export type LanguagePart = IdentifyTask & { channel: number }

/**
 * Returns the checkpointed languages of a part; if there are none, calls `identify` and checkpoints
 * the result.
 */
export type CheckpointLanguages = (
  part: LanguagePart,
  identify: () => Promise<LanguageSpan[][]>,
) => Promise<LanguageSpan[][]>

/**
 * Requested speaker counts, over all channels; an exact count wins, 0 and undefined set no limit.
 */
export type SpeakerCounts = { exact?: number; min?: number; max?: number }

/** The words of a recording, and the files with its speaker embeddings, by channel. */
export type SpeakerTask = {
  transcript: Transcript
  embeddings: readonly { channel: number; files: readonly string[] }[]
  counts: SpeakerCounts
}

/** A part of a channel whose speakers are embedded together. */
export type EmbeddingPart = {
  channel: number
  part: number
  /** The id of the speaker model: embeddings of different models are not comparable. */
  model: string
}

/**
 * Returns the file with the embeddings of a part: a checkpointed one, or one that `embed` writes,
 * completely or not at all.
 */
export type CheckpointEmbeddings = (
  part: EmbeddingPart,
  embed: (file: string) => Promise<void>,
) => Promise<string>

/** A recognized recording or session to diarize. `channels` are those with distinct audio. */
export type DiarizationTask = {
  transcript: Transcript
  channels: readonly ChannelPcm[]
  counts: SpeakerCounts
  checkpointEmbeddings: CheckpointEmbeddings
}

/** An utterance with its speaker, and the confidence in it from 0 to 1. */
export type SpeakerUtterance = Utterance & { speaker: number; speakerConfidence: number }

/** Installs models that requests need. */
export type ModelInstaller = {
  /**
   * Returns the missing model that a request needs, with the progress of its installation;
   * undefined when no model is missing or none can be installed.
   */
  findMissing(request: RecognitionRequest): MissingModel | undefined
  /** Waits until the model is installed. Rejects with `model_pull_failed`. */
  install(missing: MissingModel, options: QueuedPullOptions): Promise<void>
}

/** A model that is not installed yet. */
export type MissingModel = {
  model: CatalogModel
  /** Undefined while no request has started the download. */
  progress: PullProgress | undefined
  /** Why the last attempt to install it failed. */
  failure: AppError | undefined
}

/** Cancels a call, and receives its progress (0 to 1). */
export type EngineOptions = { signal: AbortSignal; onProgress?: (fraction: number) => void }

/**
 * The interface of this module for `jobs` and `live`. Work runs in worker processes; one that
 * crashes or hangs rejects the call with `engine_failed` and is replaced. Equal input gives equal
 * output, byte for byte.
 */
export type SpeechEngine = {
  /** Languages that some installed model supports, best first. */
  readonly languages: readonly string[]
  /** The remote engine, as described by its responses so far; undefined when there is none. */
  readonly remote?: RecognizerInfo | undefined
  /** Present when models are installed automatically. */
  readonly installer?: ModelInstaller | undefined
  /**
   * Chooses the recognizers of a request. Throws `language_not_installed` when none knows any of
   * its languages.
   */
  selectModels(request: RecognitionRequest): ModelSelection
  /** Number of worker processes, hence of batches that run at the same time. */
  readonly workers: number
  /**
   * Groups channels that carry the same speech, and writes the files to recognize into a folder:
   * see `groupChannels`.
   */
  groupChannels(task: GroupChannelsTask, options: EngineOptions): Promise<ChannelToRecognize[]>
  /**
   * Detects the speech of all channels and groups it into batches; these depend on the channels and
   * the settings only.
   */
  planRecognition(
    channels: readonly ChannelPcm[],
    settings: RecognitionSettings,
    options: EngineOptions & {
      checkpointSpeech?: CheckpointSpeech
      /** Longest segment; default: what the recognizer of `settings` takes. */
      maxSeconds?: number
    },
  ): Promise<Batch[]>
  /** Identifies the languages of the speech in batches, and replans it: see `identifyLanguages`. */
  identifyLanguages(
    batches: readonly Batch[],
    identification: LanguageIdentification,
    options: EngineOptions & { checkpointLanguages?: CheckpointLanguages },
  ): Promise<Batch[]>
  /** Languages whose speech some installed model translates into English. */
  readonly translatedLanguages: readonly string[]
  /**
   * Translates segments into English from their audio, a text for each. Rejects with
   * `engine_unavailable` when no installed model knows the language.
   */
  translate(task: SpeechTranslationTask, options: EngineOptions): Promise<string[]>
  /** Recognizes one batch; the result has one element per segment, in the same order. */
  runBatch(batch: Batch, options: EngineOptions): Promise<RecognizedSegment[]>
  /**
   * Assigns a speaker to each word; utterances are cut again, so that each has one speaker. Rejects
   * with `speaker_model_unusable` when an installed model cannot be used.
   */
  diarize(task: DiarizationTask, options: EngineOptions): Promise<SpeakerUtterance[]>
  /**
   * Recognizes live sessions, in its own processes; undefined when the engine was created without
   * them.
   */
  readonly live: LiveEngine | undefined
  /**
   * Runs a real inference of one second; rejects with `engine_unavailable` when none is possible.
   */
  checkReady(options: { signal: AbortSignal }): Promise<void>
  close(): Promise<void>
}
