/** How far outside the view an element counts as near it. */
const MARGIN = '800px 0px'

const listeners = new WeakMap<Element, (isNear: boolean) => void>()

const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) listeners.get(target)?.(isIntersecting)
  },
  { rootMargin: MARGIN },
)

/**
 * Reports whenever an element comes near the view or leaves it; returns a function that stops this.
 */
export function watchVisibility(element: Element, onChange: (isNear: boolean) => void): () => void {
  listeners.set(element, onChange)
  observer.observe(element)
  return () => observer.unobserve(element)
}
