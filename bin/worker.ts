// The background process: folds what came in, compacts, makes partitions ahead. Stops on SIGTERM, SIGINT, or when the
// process that started it is gone.
import { runWorker } from '../lib/jobs/worker';
import { onStop } from '../lib/platform/lifecycle';
import { log } from '../lib/platform/log';

const abort = new AbortController();
onStop(() => abort.abort());
try {
  await runWorker({ signal: abort.signal });
  process.exit(0);
} catch (error) {
  log().error({ err: error }, 'worker failed');
  process.exit(1);
}
