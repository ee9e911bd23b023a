import { basename } from 'node:path'
import { installSpeakerModel } from '../../asr/model-files/install-speaker-model.ts'
import { readConfig } from '../../config/config.ts'
import {
  readSpeakerModel,
  type SpeakerModelKind,
  speakerModelKinds,
} from '../../models/speaker-models.ts'
import { readLabel } from '../accounts/key-options.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { inMegabytes } from './install-progress.ts'

/** `steno models add`: installs a model for diarization from a file. */
export async function add(args: string[], { env, stderr, signal }: Terminal): Promise<number> {
  const { values, positionals } = parseArguments(args, { name: { type: 'string' } })
  const [kind, source, ...extra] = positionals
  if (kind === undefined || source === undefined || extra.length > 0) {
    throw new UsageError('add takes a KIND and a FILE')
  }
  if (!isSpeakerModelKind(kind)) {
    throw new UsageError(`KIND must be ${speakerModelKinds.join(' or ')}, not '${kind}'`)
  }
  const name = readLabel(values.name ?? basename(source), { name: 'name' })
  const { folder } = readSettings(readConfig, env).models
  const onWait = () => {
    stderr.write('Waiting for another process that adds or removes a model for diarization\n')
  }
  const { bytes } = await installSpeakerModel(folder, { kind, source, name, signal, onWait })
  stderr.write(`${name} is the ${kind} model now, ${inMegabytes(bytes)}.\n`)
  if (kind === 'speaker-segmentation' && !readSpeakerModel(folder, 'speaker-embedding')) {
    stderr.write('It is used once there is a speaker-embedding model too.\n')
  }
  stderr.write('Restart servers to use it.\n')
  return 0
}

/** Returns whether a text is a kind of model that can be added. */
function isSpeakerModelKind(text: string): text is SpeakerModelKind {
  return speakerModelKinds.some((kind) => kind === text)
}
