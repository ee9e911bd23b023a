/**
 * From version 1.30 on ONNX Runtime for Linux reports its use to its maker, under an id that it keeps
 * in the home folder. It asks the environment once, when it is loaded, so this must be imported before.
 */
process.env.ORT_DISABLE_TELEMETRY = '1'
