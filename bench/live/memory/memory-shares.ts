import { readFile } from 'node:fs/promises'
import { readTree } from '../../isolation/process-tree.ts'

/**
 * Bytes of a process and its descendants: `proportional` counts shared pages once, `anonymous`
 * counts only pages without a file. Linux only (/proc).
 */
export type MemoryShares = { proportional: number; anonymous: number }

/** Returns the sum over the process `root` and its descendants. */
export async function sharesOf(root: number): Promise<MemoryShares> {
  const sum: MemoryShares = { proportional: 0, anonymous: 0 }
  for (const { pid } of readTree(root).processes) {
    const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
    const read = (name: string) =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0)
    sum.proportional += read('Pss') * 1024
    sum.anonymous += read('Anonymous') * 1024
  }
  return sum
}
