import type { Config } from '../../config.ts'

const models = ['stt-1', 'stt-3', 'stt-fusion']

/** Names that a request may give: the three models and the operator's aliases. */
export function modelNames({ aliases }: Pick<Config['models'], 'aliases'>): string[] {
  return [...models, ...Object.keys(aliases).filter((alias) => !models.includes(alias))]
}

/** Names that a live session may give: those behind which is the one model that hears live. */
export function liveModelNames(settings: Pick<Config['models'], 'aliases'>): string[] {
  return modelNames(settings).filter((name) => modelOf(name, settings) === 'stt-1')
}

/** The model behind a name; a request that gives none gets `stt-1`, whatever label is shown for it. */
export function modelOf(
  name: string | undefined,
  { aliases }: Pick<Config['models'], 'aliases'>,
): string {
  if (name === undefined) return 'stt-1'
  return (Object.hasOwn(aliases, name) ? aliases[name] : undefined) ?? name
}
