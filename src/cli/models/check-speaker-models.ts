import type { Config } from '../../config/config.ts'
import { messageOf } from '../../errors.ts'
import type { InstalledSpeakerModel } from '../../models/speaker-models.ts'
import type { CheckResult } from '../operations/doctor/checks.ts'

// Modules that may fail to load are imported inside the function: whether they load is part of the
// check.

/** Checks whether the added speaker models are intact and run as in the workers. */
export async function checkSpeakerModels(
  { models: { folder } }: Pick<Config, 'models'>,
  signal: AbortSignal,
): Promise<CheckResult> {
  try {
    const added = await findIntact(folder)
    if (added.length === 0) return { state: 'ok', text: 'models for speakers: built in' }
    const { checkModels } = await import('../../asr/model-files/model-check.ts')
    const pathOf = (kind: string) => added.find((model) => model.kind === kind)?.path
    const [embedding, segmentation] = ['speaker-embedding', 'speaker-segmentation'].map(pathOf)
    const files = { ...(embedding && { embedding }), ...(segmentation && { segmentation }) }
    await checkModels(files, signal)
    const text = `models for speakers: ${added.map(modelLabel).join(', ')}`
    return { state: 'ok', text }
  } catch (error) {
    const text = `models for speakers: ${messageOf(error)}`
    const remedy =
      "'steno models remove KIND' takes it out, 'steno models add KIND FILE' replaces it"
    return { state: 'fail', text, remedy }
  }
}

async function findIntact(folder: string): Promise<InstalledSpeakerModel[]> {
  const {
    speakerModelKinds,
    readSpeakerModel,
    checkSpeakerModelFile: checkFile,
  } = await import('../../models/speaker-models.ts')
  const added = speakerModelKinds.flatMap((kind) => readSpeakerModel(folder, kind) ?? [])
  for (const model of added) {
    const fault = await checkFile(model)
    if (fault) throw new Error(`${modelLabel(model)} is ${fault}`)
  }
  return added
}

function modelLabel({ kind, name }: InstalledSpeakerModel): string {
  return `${kind} '${name}'`
}
