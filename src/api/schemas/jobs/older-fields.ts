import { Type } from '../common/type.ts'
import { type AddOnConfigs, HttpUrl, LanguageList, Switch } from './add-on-configs.ts'

/** Marks an older name of a field. */
function older(instead: string) {
  return { deprecated: true, description: `Use ${instead}` }
}

/** Defines the older names of `language_config`. */
export function olderLanguageFields({ Language }: Pick<AddOnConfigs, 'Language'>) {
  return {
    language: Type.Optional(
      Type.Unsafe<string>({ ...Language, ...older('`language_config.languages`') }),
    ),
    detect_language: Switch(older('an empty `language_config.languages`')),
    enable_code_switching: Switch(older('`language_config.code_switching`')),
    code_switching_config: Type.Optional(
      Type.Object(
        { languages: Type.Optional(LanguageList(Language)) },
        older('`language_config.languages`'),
      ),
    ),
  }
}

/** Defines the older way to request a callback. */
export function OlderCallbackUrl() {
  return Type.Optional(
    Type.Unsafe<string>({ ...HttpUrl, ...older('`callback` with `callback_config.url`') }),
  )
}
