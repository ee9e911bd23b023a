/** CTranslate2 names, without the side, and their Hugging Face names. */
const plainNames: Record<string, string> = {
  'position_encodings/encodings': 'embed_positions.weight',
  'embeddings/weight': 'embed_tokens.weight',
}

const normParts: Record<string, string> = { gamma: 'weight', beta: 'bias' }

/** Normalizations of a layer: the CTranslate2 block and the Hugging Face name. */
const normNames: Record<string, string> = {
  self_attention: 'self_attn_layer_norm',
  attention: 'encoder_attn_layer_norm',
  ffn: 'final_layer_norm',
}

const [QUERY, KEY, VALUE, OUTPUT] = ['q_proj', 'k_proj', 'v_proj', 'out_proj']
/**
 * The projections of a layer: a CTranslate2 array, the Hugging Face block, and the Hugging Face
 * arrays whose rows it joins.
 */
const productNames: Record<string, string[]> = {
  'self_attention/linear_0': ['self_attn', QUERY, KEY, VALUE],
  'self_attention/linear_1': ['self_attn', OUTPUT],
  'attention/linear_0': ['encoder_attn', QUERY],
  'attention/linear_1': ['encoder_attn', KEY, VALUE],
  'attention/linear_2': ['encoder_attn', OUTPUT],
}

/**
 * Returns the names, without the outer `model.`, of the Hugging Face arrays that make up one array
 * of CTranslate2, in the order of their rows.
 */
export function huggingFaceNames(name: string): string[] {
  const [side, ...rest] = name.split('/')
  const [first = '', ...inner] = rest
  const plain = plainNames[rest.join('/')]
  if (plain) return [`${side}.${plain}`]
  if (first === 'layer_norm') return [`${side}.layer_norm.${normParts[inner[0] ?? '']}`]
  if (first.startsWith('conv')) return [`${side}.${rest.join('.')}`]
  const layer = `${side}.layers.${first.replace('layer_', '')}`
  const [block = '', operation = '', part = ''] = inner
  if (operation === 'layer_norm') return [`${layer}.${normNames[block]}.${normParts[part]}`]
  if (block === 'ffn') return [`${layer}.${operation === 'linear_0' ? 'fc1' : 'fc2'}.${part}`]
  const [attention, ...products] = productNames[`${block}/${operation}`] ?? []
  return products.map((product) => `${layer}.${attention}.${product}.${part}`)
}
