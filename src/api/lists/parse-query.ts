/** The value of a query parameter: a text, a list, or an object built with brackets. */
export type QueryValue = string | QueryValue[] | { [key: string]: QueryValue }

/** The deepest nesting. No client needs more, and each level is a recursive call. */
const MAX_DEPTH = 20

/**
 * Parses a query string with the bracket notations that clients use: `a=1&a=2` and `a[]=1&a[]=2`
 * are lists, `a[b][c]=1` is nested and, below the top level, `a[b][0]=1&a[b][1]=2` is a list, too.
 * A name deeper than `MAX_DEPTH` is not split. Objects have no prototype that a key could change.
 */
export function parseQuery(text: string): Record<string, QueryValue> {
  const query = createObject()
  for (const [name, value] of new URLSearchParams(text)) {
    const [, first, brackets = ''] = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name) ?? []
    const path = brackets.slice(1, -1).split('][')
    if (first === undefined || path.length > MAX_DEPTH) putValue(query, name, value)
    else putDeep(query, first, path, value)
  }
  for (const value of Object.values(query).filter(isQueryObject)) {
    for (const key of Object.keys(value)) value[key] = withLists(value[key]!)
  }
  return query
}

type QueryObject = { [key: string]: QueryValue }

function createObject(): QueryObject {
  return Object.create(null) as QueryObject
}

/** Sets a value. A second value for the same key makes a list of both. */
function putValue(target: QueryObject, key: string, value: QueryValue): void {
  const earlierValue = target[key]
  if (earlierValue === undefined) target[key] = value
  else if (Array.isArray(earlierValue)) earlierValue.push(value)
  else target[key] = [earlierValue, value]
}

function putDeep(
  target: QueryObject,
  key: string,
  [next, ...remainingPath]: readonly string[],
  value: string,
): void {
  const earlierValue = target[key]
  if (next === undefined) {
    putValue(target, key, value)
  } else if (next === '') {
    if (!Array.isArray(earlierValue)) target[key] = earlierValue === undefined ? [] : [earlierValue]
    putValue(target, key, nest(remainingPath, value))
  } else {
    const nested = isQueryObject(earlierValue) ? earlierValue : createObject()
    if (nested !== earlierValue) putValue(target, key, nested)
    putDeep(nested, next, remainingPath, value)
  }
}

function nest(path: readonly string[], value: string): QueryValue {
  const [first, ...remainingPath] = path
  if (first === undefined) return value
  const object = createObject()
  putDeep(object, first, remainingPath, value)
  return object
}

/** Converts `{0: …, 1: …}` to a list. */
function withLists(value: QueryValue): QueryValue {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(withLists)
  const keys = Object.keys(value)
  if (keys.length > 0 && keys.every((key, i) => key === String(i))) {
    return keys.map((key) => withLists(value[key]!))
  }
  const object = createObject()
  for (const key of keys) object[key] = withLists(value[key]!)
  return object
}

function isQueryObject(value: QueryValue | undefined): value is QueryObject {
  return typeof value === 'object' && !Array.isArray(value)
}
