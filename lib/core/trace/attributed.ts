// What attribution gives back, and what a project's owner may say about its spans.

import type { TimedRequest } from '../request';
import type { Term } from '../terms';
import type { ReplicaStart } from './replicas';
import type { Span } from './span';

/** One rule of a project. Rules are tried in order; the first that matches and sets a thing decides that thing. */
export type TermRule = {
  /**
   * All must hold, upper and lower case as written. `attribute` is looked up on the span, then on its resource;
   * `span.name` and `service.name` work too. Other values than text are compared as text.
   */
  when: readonly { attribute: string; is: 'equal' | 'prefix' | 'present'; value?: string }[];
  set: {
    /** What the span's own time is; 'ignore' leaves it to the parent. */
    term?: Term | 'ignore';
    /** Name of the endpoint of requests that this span is the root of. */
    endpoint?: string;
    /** Region of the process that made the span. */
    region?: string;
  };
};

/** Why spans gave no request: counted on the trust page. */
export type IgnoredReason =
  /** Its root is work that nobody waits for or that is no inference: a poller, a broker command, a health check. */
  | 'no_request'
  /** A worker's call whose context did not come through the queue: part of somebody's request, nobody knows whose. */
  | 'lost_context'
  /** No root ever came. */
  | 'no_root';

export type TraceNote =
  /** A first output as late as the whole answer: no stream observed, ttft is null. */
  | 'noStreamObserved'
  /** A time to first output that cannot be true (a sentinel, zero, beyond the request): ttft is null. */
  | 'ttftUnbelievable'
  /** Two of its hosts' clocks differ; see skewUs. */
  | 'skewed'
  /** Parents that never arrived: their children hang from the root. */
  | 'orphans'
  /** A queue was crossed whose wait cannot be told: its term is null. */
  | 'queueUnknown';

export type TracedRequest = {
  /** Its id is `<traceId>-<root's spanId>`, so that attributing a trace again replaces its request. */
  request: TimedRequest;
  rootSpanId: string;
  /** Sequential model calls: those on the critical path. */
  steps: number;
  notes: readonly TraceNote[];
  /** Clock (see clockOf) → µs that it runs ahead of the root's, as far as round trips tell. The root's own is 0. */
  skewUs: Readonly<Record<string, number>>;
};

export type AttributedTrace = {
  requests: readonly TracedRequest[];
  ignored: readonly { rootSpanId: string | null; spans: number; reason: IgnoredReason }[];
};

/** Spans of one trace, or of several that links join (any order, repeated ones allowed) → requests, ready to append. */
export type AttributeTrace = (question: {
  spans: readonly Span[];
  rules: readonly TermRule[];
  /** Starts of replicas that other traces tell of; those of these spans are known without. */
  replicaStarts?: readonly ReplicaStart[];
  /** Processes (see clockOf) that take jobs whose context is lost, as brokers tell across traces. */
  workers?: ReadonlySet<string>;
}) => AttributedTrace;
