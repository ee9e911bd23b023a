import { AppError } from '../../errors.ts'
import type { Segment, SpeakerCounts, SpeakerTask, SpeakerUtterance } from '../speech-engine.ts'
import { diarizeByTurns } from './assignment/word-turns.ts'
import { diarize } from './diarize.ts'
import {
  type ChannelEmbeddings,
  readEmbeddings,
  writeEmbeddings,
} from './embedding/embedding-files.ts'
import { openSpeakerModel, type SpeakerModel } from './embedding/open-speaker-model.ts'
import type { SpeakerModelSpec } from './embedding/speaker-model.ts'

/** Regions of a channel whose speakers a model embeds, and the file for the result. */
export type EmbedTask = {
  path: string
  regions: readonly Segment[]
  to: string
  model: SpeakerModelSpec
  /**
   * Of this channel, where they are known: a model that clusters speakers itself needs them here.
   */
  counts: SpeakerCounts
}

/** Embeds and diarizes speakers, for one task of the worker after the other. */
export type Diarizer = {
  hear(task: EmbedTask, signal: AbortSignal): Promise<null>
  tellApart(task: SpeakerTask): SpeakerUtterance[]
}

/** Loads the model with the first task: most jobs need none. */
export function createDiarizer(): Diarizer {
  let opened: { id: string; voices: Promise<SpeakerModel> } | undefined
  return {
    async hear({ model, to, ...where }, signal) {
      if (opened?.id !== model.id) opened = { id: model.id, voices: openSpeakerModel(model) }
      const voices = await opened.voices.catch((error) => {
        opened = undefined
        throw error
      })
      writeEmbeddings(to, await voices({ ...where, signal }))
      return null
    },
    tellApart({ transcript, voices, counts }) {
      const heard = voices.map(({ channel, files }) => ({
        channel,
        parts: files.map(readEmbeddings),
      }))
      requireOneModel(heard.flatMap(({ parts }) => parts))
      if (heard.some(({ parts }) => parts.some((part) => 'turns' in part))) {
        const turns = heard.map(({ channel, parts }) => {
          return { channel, turns: parts.flatMap((part) => ('turns' in part ? part.turns : [])) }
        })
        return diarizeByTurns(transcript, turns)
      }
      const windows = heard.map(({ channel, parts }) => {
        return {
          channel,
          windows: parts.flatMap((part) => ('windows' in part ? part.windows : [])),
        }
      })
      return diarize(transcript, { voices: windows, counts })
    },
  }
}

/** Embeddings of two models are not comparable. */
function requireOneModel(parts: readonly ChannelEmbeddings[]): void {
  const models = new Set(parts.map(({ model }) => model))
  if (models.size > 1) {
    throw new AppError('storage_unreadable', 'the voices were heard by different models')
  }
}
