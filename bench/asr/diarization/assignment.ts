/**
 * Pairs rows with columns at the lowest sum of costs (Hungarian method of Kuhn and Munkres).
 * Returns the column of each row. `costs` is square.
 */
export function assign(costs: readonly (readonly number[])[]): number[] {
  const size = costs.length
  // Index 0 is a row and a column that do not exist; `rowOf[column]` is the row that the column is
  // paired with.
  const rowPrice = new Array<number>(size + 1).fill(0)
  const columnPrice = new Array<number>(size + 1).fill(0)
  const rowOf = new Array<number>(size + 1).fill(0)
  for (let row = 1; row <= size; row++) {
    rowOf[0] = row
    const slack = new Array<number>(size + 1).fill(Number.POSITIVE_INFINITY)
    const cameFrom = new Array<number>(size + 1).fill(0)
    const reached = new Array<boolean>(size + 1).fill(false)
    let column = 0
    while (rowOf[column] !== 0) {
      reached[column] = true
      const assigned = rowOf[column]!
      let [next, min] = [0, Number.POSITIVE_INFINITY]
      for (let c = 1; c <= size; c++) {
        if (reached[c]) continue
        const left = costs[assigned - 1]![c - 1]! - rowPrice[assigned]! - columnPrice[c]!
        if (left < slack[c]!) [slack[c], cameFrom[c]] = [left, column]
        if (slack[c]! < min) [min, next] = [slack[c]!, c]
      }
      for (let c = 0; c <= size; c++) {
        if (!reached[c]) slack[c]! -= min
        else {
          rowPrice[rowOf[c]!]! += min
          columnPrice[c]! -= min
        }
      }
      column = next
    }
    while (column !== 0) {
      rowOf[column] = rowOf[cameFrom[column]!]!
      column = cameFrom[column]!
    }
  }
  const columns = new Array<number>(size).fill(0)
  for (let c = 1; c <= size; c++) columns[rowOf[c]! - 1] = c - 1
  return columns
}
