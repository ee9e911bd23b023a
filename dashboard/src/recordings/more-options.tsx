import type { JSX } from 'preact'
import { texts } from '../texts.ts'
import { type AddOnChoices, options, type Switch, toRequest } from './options.ts'
import {
  type AddOn,
  configFields,
  fieldsWithControls,
  otherConfigFields,
  readableLabel,
  type SchemaField,
} from './schema-fields.ts'

const t = texts.options

/** No switch is unavailable, because the form shows only configured add-ons. */
const noUnavailable: ReadonlySet<string> = new Set()

/** Shows all other options of the server's add-ons, as their schemas define them. */
export function MoreOptions({ addOns }: { addOns: readonly AddOn[] }): JSX.Element {
  return (
    <details class="spaced">
      <summary>{t.more}</summary>
      <div class="grid">
        {addOns
          .filter(({ is_configured }) => is_configured)
          .map((addOn) => (
            <AddOnOptions key={addOn.name} addOn={addOn} />
          ))}
      </div>
    </details>
  )
}

function AddOnOptions({ addOn }: { addOn: AddOn }): JSX.Element | null {
  const { name } = addOn
  const isSwitchedAbove = name in t.switches || name in fieldsWithControls
  const fields = otherConfigFields(addOn)
  // An add-on is omitted if it requires a field that the form does not support.
  const isComplete = addOn.config_schema === null || configFields(addOn).length > 0
  if (fields.length === 0 && (isSwitchedAbove || !isComplete)) return null
  const more = options.value.more[name] ?? { isOn: false, config: {} }
  const isRequested = toRequest(options.value, { unavailable: noUnavailable })[name] === true
  const set = (changed: Partial<AddOnChoices[string]>) => {
    const { more: all } = options.value
    options.value = { ...options.value, more: { ...all, [name]: { ...more, ...changed } } }
  }
  return (
    <fieldset class="add-on">
      <legend>{t.switches[name as Switch] ?? t.addOns[name] ?? readableLabel(name)}</legend>
      {!isSwitchedAbove && (
        <label class="choice">
          <input
            type="checkbox"
            checked={more.isOn}
            onChange={(event) => set({ isOn: event.currentTarget.checked })}
          />
          <span>{t.use}</span>
        </label>
      )}
      {isSwitchedAbove && !isRequested && <p class="hint">{t.first}</p>}
      <fieldset disabled={!isRequested}>
        {fields.map((field) => (
          <Field
            key={field.name}
            field={field}
            fieldTexts={t.fields[name]?.[field.name] ?? { label: readableLabel(field.name) }}
            id={`${name}-${field.name}`}
            value={more.config[field.name]}
            set={(value) => set({ config: { ...more.config, [field.name]: value } })}
          />
        ))}
      </fieldset>
    </fieldset>
  )
}

type FieldProps = {
  field: SchemaField
  fieldTexts: (typeof t.fields)[string][string]
  id: string
  /** If undefined, the default of the server applies. */
  value: unknown
  set: (value: unknown) => void
}

function Field({ field, fieldTexts, id, value, set }: FieldProps): JSX.Element {
  if (field.kind === 'switch') {
    return (
      <label class="choice">
        <input
          type="checkbox"
          checked={(value as boolean | undefined) ?? field.isOn}
          onChange={(event) => set(event.currentTarget.checked)}
        />
        <span>
          {fieldTexts.label}
          {fieldTexts.hint && <span class="hint block">{fieldTexts.hint}</span>}
        </span>
      </label>
    )
  }
  return (
    <div class="fields">
      <label for={id}>{fieldTexts.label}</label>
      <Control field={field} fieldTexts={fieldTexts} id={id} value={value} set={set} />
    </div>
  )
}

function Control({ field, ...control }: FieldProps): JSX.Element | null {
  const { id, value, set } = control
  switch (field.kind) {
    case 'number':
      return (
        <input
          id={id}
          type="number"
          min={field.min}
          max={field.max}
          step={field.isWhole ? 1 : 'any'}
          value={value as number | undefined}
          onInput={({ currentTarget: { value: text } }) => {
            set(text === '' ? undefined : Number(text))
          }}
        />
      )
    case 'text':
      return (
        <input
          id={id}
          type="text"
          maxLength={field.maxLength}
          value={(value as string | undefined) ?? ''}
          onInput={(event) => set(event.currentTarget.value || undefined)}
        />
      )
    case 'lines':
      return (
        <textarea
          id={id}
          rows={2}
          onInput={({ currentTarget: { value: text } }) => {
            const lines = text.split('\n').flatMap((line) => line.trim() || [])
            set(lines.length > 0 ? lines : undefined)
          }}
        />
      )
    case 'choice':
      return <SelectField {...control} field={field} />
    case 'choices':
      return <MultiSelectField {...control} field={field} />
    default:
      return null
  }
}

type SelectFieldProps<Kind> = Omit<FieldProps, 'field'> & {
  field: Extract<SchemaField, { kind: Kind }>
}

function SelectField({
  field,
  fieldTexts,
  id,
  value,
  set,
}: SelectFieldProps<'choice'>): JSX.Element {
  return (
    <select
      id={id}
      value={(value as string | undefined) ?? field.usual ?? ''}
      onChange={(event) => set(event.currentTarget.value || undefined)}
    >
      {field.usual === undefined && <option value="" />}
      <ValueOptions values={field.values} names={fieldTexts.values} />
    </select>
  )
}

function MultiSelectField({
  field,
  fieldTexts,
  id,
  value,
  set,
}: SelectFieldProps<'choices'>): JSX.Element {
  return (
    <select
      id={id}
      multiple
      size={Math.min(6, field.values.length)}
      onChange={({ currentTarget: { selectedOptions } }) => {
        const chosen = Array.from(selectedOptions, (option) => option.value)
        set(chosen.length > 0 ? chosen : undefined)
      }}
    >
      <ValueOptions
        values={field.values}
        names={fieldTexts.values}
        chosen={(value as string[] | undefined) ?? []}
      />
    </select>
  )
}

type ValueOptionsProps = {
  values: readonly string[]
  names: Record<string, string> | undefined
  chosen?: readonly string[]
}

function ValueOptions({ values, names, chosen }: ValueOptionsProps): JSX.Element {
  return (
    <>
      {values.map((value) => (
        <option key={value} value={value} selected={chosen?.includes(value)}>
          {names?.[value] ?? readableLabel(value)}
        </option>
      ))}
    </>
  )
}
