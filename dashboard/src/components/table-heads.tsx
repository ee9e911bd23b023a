import type { JSX } from 'preact'

/** The headers of the columns of a table, by name. Only screen readers show that of `actions`. */
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
