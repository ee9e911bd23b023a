import type { Config } from '../../../config/config.ts'

const models = ['stt-1', 'stt-3', 'stt-fusion']

/**
 * Returns the names that a request may use: the three models, the remote engine where there is one,
 * and the operator's aliases.
 */
export function modelNames({
  aliases,
  remote,
}: Pick<Config['models'], 'aliases' | 'remote'>): string[] {
  const names = remote ? [...models, 'remote'] : models
  return [...names, ...Object.keys(aliases).filter((alias) => !names.includes(alias))]
}

/**
 * Returns the names that a live session may use. The API defines `stt-1` only; an operator's alias
 * may also stand for `stt-fusion`.
 */
export function liveModelNames(settings: Pick<Config['models'], 'aliases' | 'remote'>): string[] {
  return modelNames(settings).filter((name) => {
    const model = modelOf(name, settings)
    return ['stt-1', 'remote'].includes(model) || (model === 'stt-fusion' && name !== model)
  })
}

/**
 * Returns the model of a name; a request without a name gets `stt-1`, whatever label is shown for
 * it.
 */
export function modelOf(
  name: string | undefined,
  { aliases }: Pick<Config['models'], 'aliases'>,
): string {
  if (name === undefined) return 'stt-1'
  return (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? name
}
