// Can these numbers be trusted? Findings from what the write path counted and what is still on its way, in words.

/** What was received in a range, by hour of receipt. Events, not weights. */
export type IngestCounts = {
  accepted: number;
  duplicates: number;
  rejected: number;
  /** Largest first. */
  rejectedByReason: { reason: string; n: number }[];
  late: number;
  inconsistent: number;
  noStreamObserved: number;
  /** Fields that the contract does not know; they were ignored. */
  unknownFields: number;
  /** Events whose times were moved because the sender's clock was more than 2 s off. */
  skewed: number;
  /** Events whose labels were folded into `__overflow__`. */
  overflow: number;
  /** Traces that gave no request though they might have: their root never came. */
  rootlessTraces: number;
  /** Traces of workers whose context did not come through the queue: parts of requests, nobody knows of which. */
  lostContextTraces: number;
};

/** good: as it should be; note: true of the numbers, and worth knowing; bad: numbers are missing or wrong until it is put right. */
export type FindingState = 'good' | 'note' | 'bad';
export type Finding = { id: string; state: FindingState; words: string };

/** What is on its way into the roll-ups, or could not get there. */
export type StoreState = {
  pending: { chunks: number; requests: number; oldestReceivedAt: string | null };
  /** How long the oldest request not folded yet has waited; 0 when everything is folded. Reads include it all the same. */
  foldLagMs: number;
  quarantine: { chunks: number; requests: number };
  /** Requests whose hour is not sealed yet: a second copy of them could still be in the counts. */
  unsealed: { chunks: number; requests: number };
};

const FOLD_LAG_LIMIT_MS = 60_000;
const KINDS = ['late', 'inconsistent', 'noStreamObserved', 'unknownFields', 'skewed', 'overflow'] as const;

/** Sums rows of kind → count. `rejected:<reason>` counts under its reason; kinds that nobody knows are left out. */
export function sumCounts(rows: Iterable<{ kind: string; count: number }>): IngestCounts {
  const totals = new Map<string, number>();
  for (const { kind, count } of rows) totals.set(kind, (totals.get(kind) ?? 0) + count);
  const rejectedByReason = [...totals]
    .filter(([kind]) => kind.startsWith('rejected:'))
    .map(([kind, n]) => ({ reason: kind.slice('rejected:'.length), n }))
    .sort((a, b) => b.n - a.n || (a.reason < b.reason ? -1 : 1));
  const of = (kind: string) => totals.get(kind) ?? 0;
  return {
    accepted: of('accepted'),
    duplicates: of('duplicate'),
    rejected: rejectedByReason.reduce((sum, { n }) => sum + n, 0),
    rejectedByReason,
    rootlessTraces: of('trace:no_root'),
    lostContextTraces: of('trace:lost_context'),
    ...(Object.fromEntries(KINDS.map((kind) => [kind, of(kind)])) as Record<(typeof KINDS)[number], number>),
  };
}

/** What a rejected event should hear, by the reason it is counted under. */
export const REJECT_HINTS: Readonly<Record<string, string>> = {
  invalid: 'a field is missing or has the wrong type; the answer to the post names it',
  too_deep: 'nested deeper than 8 levels',
  too_old: 'started more than 35 days before it came: check the unit (milliseconds)',
  future: 'starts more than 5 minutes in the future: check the clock or the unit',
  inconsistent: 'contradicts itself',
};

const count = (n: number, one: string, many = `${one}s`) => `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
const seconds = (ms: number) => (ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`);

/** The findings in the order a person should read them; `bad` ones first. */
export function judgeTrust(counts: IngestCounts, store: StoreState): Finding[] {
  const findings = [
    rejectedFinding(counts),
    quarantineFinding(store),
    foldFinding(store),
    ...countFindings(counts),
    ...traceFindings(counts),
    unsealedFinding(store),
  ];
  const rank: Record<FindingState, number> = { bad: 0, note: 1, good: 2 };
  return findings.sort((a, b) => rank[a.state] - rank[b.state]);
}

function rejectedFinding({ rejected, accepted, rejectedByReason }: IngestCounts): Finding {
  if (rejected === 0) return { id: 'rejected', state: 'good', words: 'Nothing that was sent was rejected.' };
  const reasons = rejectedByReason.map(({ reason, n }) => {
    const hint = REJECT_HINTS[reason];
    return `${n.toLocaleString('en')} ${reason}${hint === undefined ? '' : ` (${hint})`}`;
  });
  const share = rejected / (rejected + accepted);
  const words = `${count(rejected, 'event was', 'events were')} rejected and ${rejected === 1 ? 'is' : 'are'} in no number: ${reasons.join('; ')}.`;
  return { id: 'rejected', state: share > 0.001 ? 'bad' : 'note', words };
}

function quarantineFinding({ quarantine }: StoreState): Finding {
  if (quarantine.chunks === 0)
    return { id: 'quarantine', state: 'good', words: 'Every stored request could be folded; none is in quarantine.' };
  const words = `${count(quarantine.requests, 'request')} in ${count(quarantine.chunks, 'chunk')} could not be folded three times and ${quarantine.requests === 1 ? 'is' : 'are'} missing from every percentile. They are kept in raw form.`;
  return { id: 'quarantine', state: 'bad', words };
}

function foldFinding({ pending, foldLagMs }: StoreState): Finding {
  if (pending.chunks === 0)
    return { id: 'fold', state: 'good', words: 'Everything received is folded into the roll-ups.' };
  const words = `${count(pending.requests, 'request')} not folded yet, the oldest for ${seconds(foldLagMs)}. Every page includes them: they are folded while it is read.`;
  if (foldLagMs <= FOLD_LAG_LIMIT_MS) return { id: 'fold', state: 'good', words };
  return { id: 'fold', state: 'note', words: `${words} Reads get slower until the worker catches up: is it running?` };
}

function countFindings(counts: IngestCounts): Finding[] {
  const notes: [keyof IngestCounts & string, number, string][] = [
    ['duplicates', counts.duplicates, 'came again and were stored once (a retry is no fault).'],
    ['late', counts.late, 'came more than 24 hours after they started; they are in the hours they belong to.'],
    [
      'inconsistent',
      counts.inconsistent,
      'had terms that add up to more than the duration; their terms were cut or dropped, their durations kept.',
    ],
    ['skewed', counts.skewed, 'came from a clock more than 2 s off; their times were moved by the difference.'],
    [
      'noStreamObserved',
      counts.noStreamObserved,
      'reported a first output at the very end: no stream was observed, so their TTFT is left out.',
    ],
    [
      'overflow',
      counts.overflow,
      'went over the daily limit of label combinations and are counted under __overflow__.',
    ],
  ];
  const found = notes
    .filter(([, n]) => n > 0)
    .map(([id, n, words]): Finding => ({ id, state: 'note', words: `${count(n, 'event')} ${words}` }));
  if (counts.unknownFields > 0) {
    const words = `${count(counts.unknownFields, 'field')} with a name that the contract does not know ${counts.unknownFields === 1 ? 'was' : 'were'} ignored: check the spelling against the API reference.`;
    found.push({ id: 'unknownFields', state: 'note', words });
  }
  return found;
}

function traceFindings({ rootlessTraces, lostContextTraces }: IngestCounts): Finding[] {
  const found: Finding[] = [];
  if (rootlessTraces > 0) {
    const words = `${count(rootlessTraces, 'trace')} had no root when ${rootlessTraces === 1 ? 'it was' : 'they were'} closed and gave no request: is the service that answers users instrumented, and does it export to the same project?`;
    found.push({ id: 'rootlessTraces', state: 'note', words });
  }
  if (lostContextTraces > 0) {
    const words = `${count(lostContextTraces, 'trace')} of workers came without the context of the request whose job they did, so those requests miss their queue and their model: give the queue its telemetry (docs/clients/bullmq.md).`;
    found.push({ id: 'lostContextTraces', state: 'note', words });
  }
  return found;
}

function unsealedFinding({ unsealed }: StoreState): Finding {
  if (unsealed.requests === 0)
    return { id: 'unsealed', state: 'good', words: 'Every stored hour is sealed: each id is known to be there once.' };
  const words = `${count(unsealed.requests, 'request')} of hours not sealed yet: an id that was re-sent in another batch to another process could still be counted twice until its hour is sealed.`;
  return { id: 'unsealed', state: 'good', words };
}
