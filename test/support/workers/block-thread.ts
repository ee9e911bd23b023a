/** Hangs the calling thread for good; unlike a busy loop, it takes no processor time. */
export function blockThread(): void {
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}
