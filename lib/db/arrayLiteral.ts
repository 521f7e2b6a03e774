/** Postgres' text form of a one-dimensional array: `{1,NULL,"a b"}`. Every string is quoted; NUL is not allowed. */
export function arrayLiteral(values: readonly (string | number | null)[]): string {
  let text = '{';
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (i > 0) text += ',';
    if (value === null || value === undefined) text += 'NULL';
    else if (typeof value === 'number') text += value;
    else text += `"${/["\\]/.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`;
  }
  return `${text}}`;
}
