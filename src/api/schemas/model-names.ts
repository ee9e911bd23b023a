import type { Config } from '../../config.ts'

const models = ['stt-1', 'stt-3', 'stt-fusion']

/** Returns the names that a request may use: the three models and the operator's aliases. */
export function modelNames({ aliases }: Pick<Config['models'], 'aliases'>): string[] {
  return [...models, ...Object.keys(aliases).filter((alias) => !models.includes(alias))]
}

/** Returns the names that a live session may use: those that refer to the one live model. */
export function liveModelNames(settings: Pick<Config['models'], 'aliases'>): string[] {
  return modelNames(settings).filter((name) => modelOf(name, settings) === 'stt-1')
}

/**
 * Returns the model of a name; a request without one gets `stt-1`, whatever label is shown for it.
 */
export function modelOf(
  name: string | undefined,
  { aliases }: Pick<Config['models'], 'aliases'>,
): string {
  if (name === undefined) return 'stt-1'
  return (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? name
}
