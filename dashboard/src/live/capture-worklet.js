/**
 * Collects a tenth of a second of sound and posts it as 16-bit samples. When it gets a message, it
 * posts what it has collected by then, and null.
 */
class Capture extends AudioWorkletProcessor {
  #samples = new Int16Array(Math.round(sampleRate / 10))
  #filled = 0

  constructor() {
    super()
    this.port.onmessage = () => {
      if (this.#filled > 0) this.#post()
      this.port.postMessage(null)
    }
  }

  process([channels]) {
    const input = channels?.[0]
    if (!input) return true
    for (let i = 0; i < input.length; i++) {
      let sum = 0
      for (const channel of channels) sum += channel[i]
      const value = Math.max(-1, Math.min(1, sum / channels.length))
      this.#samples[this.#filled++] = Math.round(value * 32767)
      if (this.#filled === this.#samples.length) this.#post()
    }
    return true
  }

  #post() {
    const { buffer } = this.#samples.slice(0, this.#filled)
    this.#filled = 0
    this.port.postMessage(buffer, [buffer])
  }
}

registerProcessor('capture', Capture)
