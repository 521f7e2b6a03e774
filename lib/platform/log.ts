import pino, { type Logger } from 'pino';
import { env } from './env';
import { singleton } from './singleton';

/** The process's logger: one JSON object a line on standard output. */
export function log(): Logger {
  return singleton('log', () => pino({ level: env().LOG_LEVEL, base: null }));
}
