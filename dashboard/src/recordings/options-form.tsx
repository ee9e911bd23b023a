import type { JSX } from 'preact'
import type { ApiCapabilities } from '../../../src/cli/server/api-types.ts'
import { languageName } from '../parts/format.ts'
import { texts } from '../texts.ts'
import { applyPreset, type ChannelMode, options, type Preset, type Switch } from './options.ts'

const t = texts.options

/** The options of the next recordings; presets first, details on request. */
export function OptionsForm({
  abilities,
}: {
  abilities: ApiCapabilities | undefined
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
        <Details abilities={abilities} />
      </details>
    </div>
  )
}

/** Returns the switches that the server cannot honor. */
export function unavailableSwitches(abilities: ApiCapabilities | undefined): Set<string> {
  const missing = abilities?.add_ons.filter(({ is_configured }) => !is_configured) ?? []
  return new Set(missing.map(({ name }) => name))
}

function Details({ abilities }: { abilities: ApiCapabilities | undefined }): JSX.Element {
  const { switches } = options.value
  const unavailable = unavailableSwitches(abilities)
  const set = (changed: Partial<typeof options.value>) => {
    options.value = { ...options.value, ...changed }
  }
  const toggle = (name: Switch) => {
    const others = switches.filter((one) => one !== name)
    set({ switches: others.length < switches.length ? others : [...others, name] })
  }
  return (
    <div class="grid">
      <Choices abilities={abilities} set={set} />
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

type ChoicesProps = {
  abilities: ApiCapabilities | undefined
  set: (changed: Partial<typeof options.value>) => void
}

function Choices({ abilities, set }: ChoicesProps): JSX.Element {
  const { language, speakers, vocabulary, channelMode, switches } = options.value
  const languages = abilities?.recognition.languages ?? []
  const names = languages.map((code) => [code, languageName(code)] as const)
  return (
    <div class="fields">
      <label for="language">{t.language}</label>
      <select
        id="language"
        value={language}
        onChange={(event) => set({ language: event.currentTarget.value })}
      >
        <option value="">{t.detect}</option>
        {names
          .sort((one, other) => one[1].localeCompare(other[1]))
          .map(([code, name]) => (
            <option key={code} value={code}>
              {name}
            </option>
          ))}
      </select>
      <label for="speakers">{t.speakers}</label>
      <input
        id="speakers"
        type="number"
        min="1"
        max="30"
        placeholder={t.speakersHint}
        disabled={!switches.includes('diarization')}
        value={speakers}
        onInput={(event) => set({ speakers: event.currentTarget.value })}
      />
      <label for="channels">{t.channels}</label>
      <select
        id="channels"
        value={channelMode}
        onChange={(event) => set({ channelMode: event.currentTarget.value as ChannelMode })}
      >
        {Object.entries(t.channelModes).map(([mode, label]) => (
          <option key={mode} value={mode}>
            {label}
          </option>
        ))}
      </select>
      <label for="vocabulary">{t.vocabulary}</label>
      <textarea
        id="vocabulary"
        rows={3}
        value={vocabulary}
        onInput={(event) => set({ vocabulary: event.currentTarget.value })}
      />
    </div>
  )
}
