import type { ComponentProps, JSX } from 'preact'

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
