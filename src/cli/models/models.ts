import {
  listAvailableModels,
  listLocalModels,
  listRemoteModels,
} from '../../app/models/model-list.ts'
import { readConfig } from '../../config/config.ts'
import type { ListedModel } from '../../models/model-admin.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import { runSubcommand, type Subcommands } from '../terminal/subcommands.ts'
import { formatTable } from '../terminal/table.ts'
import type { Command, Terminal } from '../terminal/terminal.ts'
import { add } from './add-speaker-model.ts'
import { importFolder, pull } from './install-commands.ts'
import { inMegabytes } from './install-progress.ts'
import { remove } from './remove-model.ts'

const help = `Usage: steno models [list] [--installed] [--json]
       steno models pull NAME...
       steno models import FOLDER [NAME...]
       steno models import FOLDER --as NAME --languages CODES
       steno models check [--json]
       steno models remove NAME|KIND
       steno models add KIND FILE [--name TEXT]

Manages models for more languages and for diarization, in STENO_MODELS_DIR.

  list     shows installed models and those of the catalog, with languages, size, license, and whether
           their accuracy in Steno was measured
  pull     downloads models of the catalog. The next pull resumes a download that ended early; nothing is
           installed before every byte is checked
  import   installs models of the catalog from files in FOLDER and its subfolders, found by their content; for
           machines without a network. With --as, installs the Whisper checkpoint in FOLDER (the files of
           CTranslate2 or of Hugging Face), such as a fine-tuned one, or the model of the sherpa-onnx project
           (tokens.txt and .onnx files), under a name that you choose
  check    reads and checks every byte of the installed models
  remove   deletes an installed or added model
  add      adds a model for diarization from a file. KIND is one of:

    speaker-embedding      replaces the built-in speaker embedding model: CAM++ or ERes2Net of 3D-Speaker,
                           ResNet34 of WeSpeaker, as ONNX with 80 mel bands
    speaker-segmentation   pyannote segmentation-3.0, in the ONNX export of the sherpa-onnx project. Works together
                           with a speaker-embedding model of that project, which may then also be TitaNet; add
                           the segmentation model first

           'add' copies the file and tests it in a separate process before it replaces the current model of its
           kind. Restart servers to use it.

  --installed        lists only installed models
  --json             prints a JSON array
  --as NAME          the name of an imported checkpoint, in lower case
  --languages CODES  its languages, such as de,fr
  --name TEXT        the name of an added model in lists and messages; default: the name of the file

STENO_MODELS_MIRROR and HF_ENDPOINT name other servers to download from, HF_TOKEN a token for HF_ENDPOINT,
HTTPS_PROXY a proxy. The exit code of 'list' and 'check' is 1 if a model is missing or damaged.
`

const subcommands: Subcommands = {
  list,
  pull,
  import: importFolder,
  check,
  remove,
  add,
}

/** `steno models`: lists and changes the models folder; works directly on the files. */
export const modelsCommand: Command = {
  help,
  run: (args, terminal) => runSubcommand(subcommands, args, terminal),
}

async function list(args: string[], { env, stdout, signal }: Terminal): Promise<number> {
  const options = { installed: { type: 'boolean' }, json: { type: 'boolean' } } as const
  const { values, positionals } = parseArguments(args, options)
  if (positionals.length > 0) throw new UsageError('list takes no names')
  const settings = readSettings(readConfig, env).models
  const { folder } = settings
  const local = await listLocalModels(folder, { hashes: false, signal })
  const installed = [...local, ...listRemoteModels(settings)]
  const models = values.installed ? installed : [...installed, ...listAvailableModels(folder)]
  stdout.write(values.json ? asJson(models) : asTable(models))
  return exitCodeOf(installed)
}

async function check(args: string[], { env, stdout, signal }: Terminal): Promise<number> {
  const { values, positionals } = parseArguments(args, { json: { type: 'boolean' } })
  if (positionals.length > 0) throw new UsageError('check takes no names')
  const { folder } = readSettings(readConfig, env).models
  const installed = await listLocalModels(folder, { hashes: true, signal })
  stdout.write(values.json ? asJson(installed) : asTable(installed))
  return exitCodeOf(installed)
}

function exitCodeOf(models: readonly ListedModel[]): number {
  const usable = ['installed', 'outdated', 'configured']
  return models.every(({ state }) => usable.includes(state)) ? 0 : 1
}

function asTable(models: readonly ListedModel[]): string {
  const rows = models.map(({ name, purpose, languages, license, bytes, state, ...model }) => {
    const size = state === 'configured' ? '' : inMegabytes(bytes)
    return [name, purpose, shortList(languages), size, license ?? '', accuracyOf(model), state]
  })
  return formatTable(['model', 'for', 'languages', 'size', 'license', 'accuracy', 'state'], rows)
}

/** Describes whether the accuracy of a recognition model was measured in this program. */
function accuracyOf({ kind, measured }: Pick<ListedModel, 'kind' | 'measured'>): string {
  if (!kind.endsWith('recognition')) return ''
  if (measured === 'family') return 'another size measured'
  return measured ? 'measured' : 'not measured'
}

function shortList(languages: readonly string[]): string {
  return languages.length > 4 ? `${languages.length} languages` : languages.join(', ')
}

function asJson(models: readonly ListedModel[]): string {
  const items = models.map((model) => ({
    name: model.name,
    kind: model.kind,
    engine: model.engine ?? null,
    languages: model.languages,
    license: model.license ?? null,
    credit: model.credit ?? null,
    bytes: model.bytes,
    memory_bytes: model.memoryBytes ?? null,
    accuracy_measured: model.measured ?? null,
    state: model.state,
  }))
  return `${JSON.stringify(items, undefined, 2)}\n`
}
