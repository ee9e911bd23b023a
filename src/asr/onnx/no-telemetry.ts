/**
 * Since version 1.30 ONNX Runtime for Linux reports its use to its vendor, under an id that it
 * stores in the home folder. It reads the environment once, when it is loaded, so this module must
 * be imported before it.
 */
process.env.ORT_DISABLE_TELEMETRY = '1'
