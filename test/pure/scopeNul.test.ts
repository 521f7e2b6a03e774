import { expect, it } from 'vitest';
import { parseScope } from '../../lib/queries/scope';

it('a NUL in a parameter, which no label can hold, is refused by name', () => {
  expect(() => parseScope(new URLSearchParams('endpoint=a&clientRegion=%00'))).toThrow(/clientRegion.*NUL/);
});
