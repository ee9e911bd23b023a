import { findKindByName, removeModel } from '../../app/models/remove-model.ts'
import { readConfig } from '../../config/config.ts'
import { parseArguments, readSettings, UsageError } from '../terminal/arguments.ts'
import type { Terminal } from '../terminal/terminal.ts'

const reasons = {
  'not-installed': 'it is not installed',
  bundled: 'it comes with Steno, which needs it',
  unknown: 'no such model was added',
}

/** `steno models remove`: deletes a model of the store, or one that was added from a file. */
export async function remove(args: string[], { env, stderr, signal }: Terminal): Promise<number> {
  const { positionals } = parseArguments(args, {})
  const [name, ...extra] = positionals
  if (name === undefined || extra.length > 0) throw new UsageError('remove takes a NAME or a KIND')
  const { folder } = readSettings(readConfig, env).models
  const onWait = () => {
    stderr.write(`Waiting for another process that installs or removes ${name}\n`)
  }
  const outcome = await removeModel(folder, { name, signal, onWait })
  const namesake = findKindByName(folder, name)
  const hint =
    namesake && `the ${namesake} model has this name, too: 'steno models remove ${namesake}'`
  if (outcome === 'removed') {
    stderr.write(`${name} is removed.\n`)
    if (hint) stderr.write(`Still there: ${hint}\n`)
  } else if (outcome in reasons) {
    const reason = reasons[outcome as keyof typeof reasons]
    throw new Error(`Cannot remove '${name}': ${[reason, hint].filter(Boolean).join('; ')}`)
  } else {
    stderr.write(`The ${outcome} model is removed; restart running servers to stop using it.\n`)
  }
  return 0
}
