import type { JSX } from 'preact'
import type { ApiCapabilities } from '../../../src/cli/client/api-types.ts'
import { texts } from '../texts.ts'
import { MoreOptions } from './more-options.tsx'
import { OptionFields } from './option-fields.tsx'
import { applyPreset, options, type Preset, type Switch } from './options.ts'

const t = texts.options

/** Shows the options of the next recordings: presets first, details on request. */
export function OptionsForm({
  capabilities,
}: {
  capabilities: ApiCapabilities | undefined
}): JSX.Element {
  const { preset } = options.value
  return (
    <div class="options">
      <fieldset class="presets">
        <legend>{t.preset}</legend>
        {Object.entries(t.presets).map(([name, label]) => (
          <label key={name} class="choice">
            <input
              type="radio"
              name="preset"
              checked={name === preset}
              onChange={() => {
                options.value = applyPreset(options.value, name as Preset)
              }}
            />
            <span>{label}</span>
          </label>
        ))}
      </fieldset>
      <details>
        <summary>{t.title}</summary>
        <Details capabilities={capabilities} />
        {capabilities && <MoreOptions addOns={capabilities.add_ons} />}
      </details>
    </div>
  )
}

/** Returns the switches that the server does not support. */
export function unavailableSwitches(capabilities: ApiCapabilities | undefined): Set<string> {
  const missing = capabilities?.add_ons.filter(({ is_configured }) => !is_configured) ?? []
  return new Set(missing.map(({ name }) => name))
}

function Details({ capabilities }: { capabilities: ApiCapabilities | undefined }): JSX.Element {
  const { switches } = options.value
  const unavailable = unavailableSwitches(capabilities)
  const set = (changed: Partial<typeof options.value>) => {
    options.value = { ...options.value, ...changed }
  }
  const toggle = (name: Switch) => {
    const others = switches.filter((other) => other !== name)
    set({ switches: others.length < switches.length ? others : [...others, name] })
  }
  return (
    <div class="grid">
      <OptionFields capabilities={capabilities} unavailable={unavailable} set={set} />
      <fieldset>
        <legend class="visually-hidden">{t.title}</legend>
        {(Object.keys(t.switches) as Switch[]).map((name) => (
          <label key={name} class="choice">
            <input
              type="checkbox"
              disabled={unavailable.has(name)}
              checked={switches.includes(name) && !unavailable.has(name)}
              onChange={() => toggle(name)}
            />
            <span>
              {t.switches[name]}
              {unavailable.has(name) && ` (${t.notConfigured})`}
            </span>
          </label>
        ))}
      </fieldset>
    </div>
  )
}
