// Brings the database up to date; used by `npm start` and before the server of a container. Prints what it applied.
import { migrate } from '../lib/db/migrate';
import { env } from '../lib/platform/env';

try {
  const applied = await migrate({ connectionString: env().DATABASE_URL });
  if (applied.length > 0) console.log(`applied ${applied.length} migrations: ${applied.join(', ')}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
