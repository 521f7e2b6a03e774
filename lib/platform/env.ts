import { z } from 'zod';
import { singleton } from './singleton';

const port = z.coerce.number().int().min(0).max(65_535);

const schema = z.object({
  NODE_ENV: z.enum(['production', 'development', 'test']).default('production'),
  PORT: port.default(3000),
  HOST: z.string().default('127.0.0.1'),
  DATABASE_URL: z.string().min(1, 'set DATABASE_URL, or use `npm start`, which brings its own Postgres'),
  ISOCHRONE_SECRET: z.string().min(32, 'ISOCHRONE_SECRET must have at least 32 characters'),
  /** How people reach the dashboard, when it is not http://HOST:PORT. */
  ISOCHRONE_URL: z.url({ protocol: /^https?$/ }).optional(),
  /** Proxies in front whose X-Forwarded-For entry can be trusted. */
  TRUSTED_HOPS: z.coerce.number().int().min(0).max(10).default(0),
  /** New combinations of labels a project may open a day; beyond it labels fold into `__overflow__`. */
  SERIES_A_DAY: z.coerce.number().int().min(1).default(10_000),
  /** Events a second that one key may send, on average over ten seconds, to one process. */
  KEY_EVENTS_A_SECOND: z.coerce.number().int().min(1).default(250_000),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error', 'silent']).default('info'),
  ISOCHRONE_INIT_EMAIL: z.string().optional(),
  ISOCHRONE_INIT_PASSWORD: z.string().optional(),
  ISOCHRONE_INIT_PROJECT: z.string().optional(),
  ISOCHRONE_INIT_INGEST_KEY: z.string().optional(),
  ISOCHRONE_INIT_READ_KEY: z.string().optional(),
  ISOCHRONE_INIT_MANAGE_KEY: z.string().optional(),
});
export type Env = z.infer<typeof schema>;

/** The process's settings, checked once. The only reader of process.env. Throws an error that names the variable. */
export function env(): Env {
  return singleton('env', () => {
    // `NAME=` in a compose file or .env means: not set
    const given = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ''));
    const parsed = schema.safeParse(given);
    if (parsed.success) return parsed.data;
    const first = parsed.error.issues[0];
    throw new Error(`Environment variable ${first?.path.join('.')}: ${first?.message}`);
  });
}

/**
 * Hands next-auth its settings, which it reads from the environment by itself. Call before Next is prepared.
 * `url` is where people reach the dashboard.
 */
export function exportAuthSettings(url: string): void {
  process.env.NEXTAUTH_URL = url;
  process.env.NEXTAUTH_SECRET = env().ISOCHRONE_SECRET;
}
