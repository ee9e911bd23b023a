import type { JSX } from 'preact'

/** The column headers of a table, by name. Only screen readers announce that of `actions`. */
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
