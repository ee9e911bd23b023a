import type { ComponentProps, JSX } from 'preact'
import { useState } from 'preact/hooks'

/**
 * A button that does nothing while its work is going on. It is not disabled then, because a
 * disabled button loses the focus of the keyboard.
 */
export function BusyButton({
  isBusy,
  onClick,
  ...others
}: ComponentProps<'button'> & { isBusy: boolean }): JSX.Element {
  return (
    <button
      type="button"
      {...others}
      aria-disabled={isBusy}
      onClick={(event) => {
        // Also Enter in a field of a form clicks the button that submits it.
        if (isBusy) event.preventDefault()
        else onClick?.(event)
      }}
    />
  )
}

/** A button that does nothing until its last action has ended. */
export function ActionButton({
  action,
  ...others
}: ComponentProps<'button'> & { action: () => Promise<void> }): JSX.Element {
  const [isBusy, setBusy] = useState(false)
  const run = () => {
    setBusy(true)
    void action().finally(() => setBusy(false))
  }
  return <BusyButton {...others} isBusy={isBusy} onClick={run} />
}
