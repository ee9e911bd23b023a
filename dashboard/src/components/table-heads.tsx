import type { JSX } from 'preact'

/** The heads of a table's columns, by name; the one of `actions` is only read out. */
export function TableHeads({ heads }: { heads: Record<string, string> }): JSX.Element {
  return (
    <thead>
      <tr>
        {Object.entries(heads).map(([name, label]) => (
          <th key={name} scope="col">
            {name === 'actions' ? <span class="visually-hidden">{label}</span> : label}
          </th>
        ))}
      </tr>
    </thead>
  )
}
