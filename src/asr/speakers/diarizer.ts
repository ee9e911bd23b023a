import { AppError } from '../../errors.ts'
import type { Segment } from '../engines/recognizer.ts'
import type { SpeakerCounts, SpeakerTask, SpeakerUtterance } from '../speech-engine.ts'
import { diarizeByEmbeddings } from './diarize-by-embeddings.ts'
import { diarizeByTurns } from './diarize-by-turns.ts'
import {
  readEmbeddings,
  type SpeakerModelOutput,
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
   * The speaker counts of this channel, if known: a model that clusters speakers itself needs them
   * here.
   */
  counts: SpeakerCounts
}

/** Embeds and diarizes speakers, one task at a time. */
export type Diarizer = {
  embed(task: EmbedTask, signal: AbortSignal): Promise<null>
  findSpeakers(task: SpeakerTask): SpeakerUtterance[]
}

/** Creates a diarizer that loads its model with the first task: most jobs need none. */
export function createDiarizer(): Diarizer {
  let loaded: { id: string; embeddings: Promise<SpeakerModel> } | undefined
  return {
    async embed({ model, to, ...part }, signal) {
      if (loaded?.id !== model.id) loaded = { id: model.id, embeddings: openSpeakerModel(model) }
      const embeddings = await loaded.embeddings.catch((error) => {
        loaded = undefined
        throw error
      })
      writeEmbeddings(to, await embeddings({ ...part, signal }))
      return null
    },
    findSpeakers({ transcript, embeddings, counts }) {
      const embedded = embeddings.map(({ channel, files }) => ({
        channel,
        parts: files.map(readEmbeddings),
      }))
      requireOneModel(embedded.flatMap(({ parts }) => parts))
      if (embedded.some(({ parts }) => parts.some((part) => 'turns' in part))) {
        const turns = embedded.map(({ channel, parts }) => {
          return { channel, turns: parts.flatMap((part) => ('turns' in part ? part.turns : [])) }
        })
        return diarizeByTurns(transcript, turns)
      }
      const windows = embedded.map(({ channel, parts }) => {
        return {
          channel,
          windows: parts.flatMap((part) => ('windows' in part ? part.windows : [])),
        }
      })
      return diarizeByEmbeddings(transcript, { embeddings: windows, counts })
    },
  }
}

/** Embeddings of two models are not comparable. */
function requireOneModel(parts: readonly SpeakerModelOutput[]): void {
  const models = new Set(parts.map(({ model }) => model))
  if (models.size > 1) {
    throw new AppError('storage_unreadable', 'the embeddings come from different models')
  }
}
