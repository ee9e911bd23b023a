/** Samples per decision of the voice detector: 32 ms at 16 kHz. */
export const VAD_FRAME = 512
/** Samples of the previous frame that the model gets before each frame. */
export const CONTEXT_SAMPLES = 64
/**
 * Lead-in frames before a range whose probabilities count, which warm up the model: about 1.5 s.
 */
export const WARM_UP_FRAMES = 48
