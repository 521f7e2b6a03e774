// The measured sets under data/demo, parsed. Where each comes from: data/SOURCES.md.

export type Arrival = { offsetMs: number; set: 'conv' | 'code'; contextTokens: number; generatedTokens: number };
export type FastestRow = {
  runTimeMs: number;
  clientRegion: string;
  model: string;
  ttftMs: number;
  totalMs: number;
  outputTokens: number | null;
};

/** All durations in milliseconds. */
export interface Measured {
  /** One hour of arrivals, in order. */
  arrivals: Arrival[];
  /** "from>to" → median round trip. */
  rttMs: Map<string, number>;
  /** "system/concurrency/utilisation" → waits. */
  queueMs: Map<string, number[]>;
  /** 'function' | 'gpu' → time to start. */
  coldStartMs: Map<string, number[]>;
  /** 'chat_stream' | 'chat' | 'embeddings' | 'provider_queue' | 'inter_token' → durations. */
  modelMs: Map<string, number[]>;
  fastest: FastestRow[];
}

export const MEASURED_FILES = [
  'arrivals.csv',
  'rtt.csv',
  'queue_wait.csv',
  'cold_start.csv',
  'model_time.csv',
  'thefastest.csv',
] as const;

/** Parses the files of data/demo; `read` returns the text of one. Throws on a malformed line, naming it. */
export function parseMeasured(read: (file: (typeof MEASURED_FILES)[number]) => string): Measured {
  return {
    arrivals: rowsOf(read('arrivals.csv'), 4).map(([offset, set, context, generated]) => ({
      offsetMs: numberIn(offset),
      set: set === 'code' ? 'code' : 'conv',
      contextTokens: numberIn(context),
      generatedTokens: numberIn(generated),
    })),
    rttMs: new Map(rowsOf(read('rtt.csv'), 3).map(([from, to, rtt]) => [`${from}>${to}`, numberIn(rtt)])),
    queueMs: grouped(rowsOf(read('queue_wait.csv'), 4).map(([s, c, u, wait]) => [`${s}/${c}/${u}`, wait])),
    coldStartMs: grouped(rowsOf(read('cold_start.csv'), 2).map(([kind, ms]) => [kind ?? '', ms])),
    modelMs: grouped(rowsOf(read('model_time.csv'), 2).map(([kind, ms]) => [kind ?? '', ms])),
    fastest: rowsOf(read('thefastest.csv'), 6).map(([run, region, model, ttft, total, tokens]) => ({
      runTimeMs: Date.parse(`${run}Z`),
      clientRegion: region ?? '',
      model: model ?? '',
      ttftMs: numberIn(ttft),
      totalMs: numberIn(total),
      outputTokens: tokens === '' ? null : numberIn(tokens),
    })),
  };
}

/** The values of one measured group; throws when the file lacks it. */
export function valuesOf(groups: ReadonlyMap<string, readonly number[]>, name: string): readonly number[] {
  const values = groups.get(name);
  if (values === undefined) throw new Error(`data/demo holds no measured values for "${name}"; restore the file`);
  return values;
}

function rowsOf(text: string, columns: number): string[][] {
  return text
    .trim()
    .split('\n')
    .slice(1)
    .map((line, index) => {
      const fields = line.split(',');
      if (fields.length !== columns)
        throw new Error(`data/demo: line ${index + 2} has ${fields.length} fields, not ${columns}`);
      return fields;
    });
}

function numberIn(field: string | undefined): number {
  const value = Number(field);
  if (field === undefined || field === '' || !Number.isFinite(value))
    throw new Error(`data/demo: "${field}" is no number`);
  return value;
}

function grouped(pairs: [string, string | undefined][]): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (const [name, field] of pairs) {
    const values = groups.get(name);
    if (values) values.push(numberIn(field));
    else groups.set(name, [numberIn(field)]);
  }
  return groups;
}
