// Which roots are somebody's request: the ones that run or call a model or are a whole agent or workflow by name, or that answer a call which carries work.
// Pollers, broker housekeeping, health checks and page loads are normal in traces and are no inference.

import type { TermRule } from './attributed';
import { isLostJob } from './brokers';
import { ruleFor } from './classify';
import { textOf } from './read';
import { type Node, walkTree } from './tree';

/** True when the tree of this root is a request. `workers`: whose calls are jobs of others' requests (brokers.ts). */
export function isRequest(root: Node, rules: readonly TermRule[], workers: ReadonlySet<string>): boolean {
  let carries = false;
  for (const node of walkTree(root)) {
    const { span, role } = node;
    if (span === null) continue;
    if (textOf(span.attributes, 'isochrone.endpoint') !== null) return true;
    if ((node === root || span.kind === 'server') && ruleFor(span, rules, 'endpoint') !== null) return true;
    carries ||= role.is === 'call' || role.is === 'compute' || (role.is === 'agent' && node === root);
    carries ||= (span.kind === 'server' || (span.kind === 'client' && isNear(node, root))) && carriesWork(node);
  }
  return carries && !isLostJob(root, workers);
}

/** A client span that the root itself is, or that it directly wraps: the way a browser or a script asks. */
const isNear = (node: Node, root: Node) => node === root || node.parent === root;

/** POST or an RPC: a GET reads, and a database is not a service. */
function carriesWork({ span }: Node): boolean {
  if (span === null || textOf(span.attributes, 'db.system.name', 'db.system') !== null) return false;
  if (textOf(span.attributes, 'rpc.system') !== null) return span.kind === 'server';
  const method = textOf(span.attributes, 'http.request.method', 'http.method');
  return method === null ? span.kind === 'server' : method.toUpperCase() === 'POST';
}
