/**
 * Returns a function that shows responses in the order of their requests: a late response does not
 * replace a newer one. It resolves when its response is shown or was too late.
 */
export function inOrder<T>(show: (answer: T) => void): (answer: Promise<T>) => Promise<void> {
  let requestNumber = 0
  let shown = 0
  return async (answer) => {
    const turn = ++requestNumber
    const arrived = await answer
    if (turn < shown) return
    shown = turn
    show(arrived)
  }
}
