const AUDIO =
  /\.(?:aac|ac3|aif[cf]?|amr|au|awb|caf|dss|dts|eac3|f4a|flac|g722|gsm|latm|loas|m4a|m4b|m4r|mka|mlp|mp2|mp3|oga|ogg|opus|qta|ra|sph|spx|thd|tta|ulaw|alaw|voc|w64|wav|wave|weba|wma|wv)$/i
const VIDEO =
  /\.(?:3g2|3gpp?|asf|avi|divx|dv|f4v|flv|m2t|m2ts|m4v|mkv|mov|mp4|mpe?g|mxf|ogv|rm|rmvb|vob|webm|wmv)$/i
/** Camcorders write this extension in upper case. In lower case it is TypeScript, like `.ts`. */
const CAMCORDER = /\.MTS$/

/** Returns whether the name of a file is that of a recording. */
export function isMediaName(name: string): boolean {
  // Mac OS writes a hidden `._talk.m4a` beside each file of a card or a stick.
  if (name.startsWith('.')) return false
  return AUDIO.test(name) || VIDEO.test(name) || CAMCORDER.test(name)
}
