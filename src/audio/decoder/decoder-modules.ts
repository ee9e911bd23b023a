/** Loads what decoders load, so that the cache of compiled modules holds it. */
import './decoder-process.ts'
import '../libav/libav-audio.ts'
