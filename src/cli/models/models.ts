import { basename } from 'node:path'
import { installModel, removeModel } from '../../asr/models/install-model.ts'
import {
  type InstalledModel,
  type ModelKind,
  modelKinds,
  readInstalledModel,
} from '../../asr/models/installed-models.ts'
import { readConfig } from '../../config.ts'
import { parseArguments, readSettings, UsageError } from '../arguments.ts'
import { readLabel } from '../keys/key-options.ts'
import { formatTable } from '../terminal/table.ts'
import type { Command, Terminal } from '../terminal/terminal.ts'
import { listModels } from './model-list.ts'

const help = `Usage: steno models [list]
       steno models add KIND FILE [--name TEXT]
       steno models remove KIND|NAME

Lists the models in STENO_MODELS_DIR with their sizes and whether their files are intact; adds models for
diarization from a file, and removes them. KIND is one of:

  speaker-embedding      replaces the built-in speaker embedding model: CAM++ or ERes2Net of 3D-Speaker,
                         ResNet34 of WeSpeaker, as ONNX with 80 mel bands
  speaker-segmentation   pyannote segmentation-3.0, as ONNX of the sherpa-onnx project. Works together with a
                         speaker-embedding model of that project, which may then also be TitaNet; add
                         this one first

'add' copies the file and tests it in a separate process before it replaces the current model of its kind.
Restart servers to use it. Nothing is downloaded.

  --name TEXT   the name in lists and messages; default: the name of the file

The exit code of 'list' is 1 when a model is missing or damaged.
`

/** `steno models`: lists and changes the models folder; works directly on the files. */
export const modelsCommand: Command = {
  help,
  async run(args, terminal) {
    const [verb = 'list', ...rest] = args
    if (verb === 'list') return list(rest, terminal)
    if (verb === 'add') return add(rest, terminal)
    if (verb === 'remove') return remove(rest, terminal)
    throw new UsageError(`cannot do '${verb}', only list, add and remove`)
  },
}

async function list(args: string[], { env, stdout }: Terminal): Promise<number> {
  if (parseArguments(args, {}).positionals.length > 0) throw new UsageError('list takes no names')
  const models = await listModels(readSettings(readConfig, env).models.folder)
  const rows = models.map(({ name, purpose, bytes, state }) => {
    return [name, purpose, `${(bytes / 1e6).toFixed(1)} MB`, state]
  })
  stdout.write(formatTable(['model', 'for', 'size', 'state'], rows))
  return models.every(({ state }) => state === 'whole') ? 0 : 1
}

async function add(args: string[], { env, stderr, signal }: Terminal): Promise<number> {
  const { values, positionals } = parseArguments(args, { name: { type: 'string' } })
  const [kind, source, ...more] = positionals
  if (kind === undefined || source === undefined || more.length > 0) {
    throw new UsageError('add takes a KIND and a FILE')
  }
  if (!isKind(kind)) throw new UsageError(`KIND must be ${modelKinds.join(' or ')}, not '${kind}'`)
  const name = readLabel(values.name ?? basename(source), { name: 'name' })
  const { folder } = readSettings(readConfig, env).models
  const { bytes } = await installModel(folder, { kind, source, name, signal })
  stderr.write(`${name} is the ${kind} model now, ${(bytes / 1e6).toFixed(1)} MB.\n`)
  if (kind === 'speaker-segmentation' && !readInstalledModel(folder, 'speaker-embedding')) {
    stderr.write('It is used once there is a speaker-embedding model too.\n')
  }
  stderr.write('Restart servers to use it.\n')
  return 0
}

async function remove(args: string[], { env, stderr }: Terminal): Promise<number> {
  const { positionals } = parseArguments(args, {})
  const [wanted, ...more] = positionals
  if (wanted === undefined || more.length > 0) throw new UsageError('remove takes a KIND or a NAME')
  const { folder } = readSettings(readConfig, env).models
  const kind = isKind(wanted) ? wanted : findByName(folder, wanted)?.kind
  if (kind === undefined || !(await removeModel(folder, kind))) {
    throw new Error(`Cannot remove '${wanted}': no such model was added`)
  }
  stderr.write(`The ${kind} model is removed; servers go on without it when started again.\n`)
  return 0
}

function isKind(text: string): text is ModelKind {
  return modelKinds.some((kind) => kind === text)
}

function findByName(folder: string, name: string): InstalledModel | undefined {
  const added = modelKinds.map((kind) => readInstalledModel(folder, kind))
  return added.find((model) => model?.name === name)
}
