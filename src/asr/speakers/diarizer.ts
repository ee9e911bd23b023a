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

/** Voices of a channel to be heard by a model, and the file that is to hold them. */
export type EmbedTask = {
  path: string
  regions: readonly Segment[]
  to: string
  model: SpeakerModelSpec
  /** Of this channel, where they are known: a model that tells voices apart as it hears them needs them here. */
  counts: SpeakerCounts
}

/** Hears voices and tells them apart, for one task of the worker after the other. */
export type Diarizer = {
  hear(task: EmbedTask, signal: AbortSignal): Promise<null>
  tellApart(task: SpeakerTask): SpeakerUtterance[]
}

/** The model is loaded with the first task: most jobs need none. */
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

/** Embeddings of two models have nothing in common: to compare them would be to guess. */
function requireOneModel(parts: readonly ChannelEmbeddings[]): void {
  const models = new Set(parts.map(({ model }) => model))
  if (models.size > 1) {
    throw new AppError('storage_unreadable', 'the voices were heard by different models')
  }
}
