/** Loads the modules of decoders, so that the cache of compiled modules contains them. */
import './decoder-process.ts'
import '../libav/libav-audio.ts'
