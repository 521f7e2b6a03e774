/** Dimensions that a scope filters by, each with any number of values. */
export const SCOPE_LISTS = [
  'endpoint',
  'clientRegion',
  'serviceRegion',
  'provider',
  'model',
  'environment',
  'version',
] as const;
export type ScopeList = (typeof SCOPE_LISTS)[number];

/** Every shared query parameter. Apart from the parser, so that a browser can read it without the parser's weight. */
export const SCOPE_PARAMETERS = ['from', 'to', 'timeZone', ...SCOPE_LISTS, 'outcome', 'vantage', 'metric'] as const;
