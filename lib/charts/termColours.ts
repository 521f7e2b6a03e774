import type { Term } from '../core/terms';

/** One colour a term, the same on every chart; readable on light and dark. Model and generation stay quiet greys. */
export const TERM_COLOURS: Record<Term, string> = {
  connection: '#0e9aa7',
  network: '#2f6fed',
  backbone: '#7a5cf0',
  queue: '#e8a400',
  routing: '#7fae2a',
  coldStart: '#d6362f',
  retry: '#e2711d',
  modelHop: '#c2418f',
  model: '#64748b',
  application: '#2e9e5b',
  unattributed: '#b7a99a',
  decode: '#a3b1c6',
};
