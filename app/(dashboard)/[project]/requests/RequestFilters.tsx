import type { RequestsInput } from '@/lib/queries/parseRequests';

const ORDERS = { slowest: 'Slowest first', newest: 'Newest first', oldest: 'Oldest first' } as const;
const OWN = ['order', 'attribute', 'minMs', 'maxMs', 'sessionId', 'traceId'];

/** Order and the filters that only single requests have, as a plain form. */
export function RequestFilters({ input, params }: { input: RequestsInput; params: URLSearchParams }) {
  const kept = [...params].filter(([name]) => !OWN.includes(name));
  const attributes = Object.entries(input.attributes).map(([name, value]) => `${name}:${value}`);
  return (
    <form method="get" className="card flex flex-wrap items-end gap-3" aria-label="Which requests">
      <label className="flex flex-col gap-1">
        Order
        <select name="order" defaultValue={input.order}>
          {Object.entries(ORDERS).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <Field name="minMs" label="From (ms)" value={input.minMs} type="number" />
      <Field name="maxMs" label="Below (ms)" value={input.maxMs} type="number" />
      <Field name="attribute" label="Attribute" value={attributes[0] ?? null} placeholder="plan:pro" />
      {attributes.slice(1).map((one) => (
        <Field key={one} name="attribute" label="And" value={one} />
      ))}
      <Field name="sessionId" label="Session" value={input.sessionId} />
      <Field name="traceId" label="Trace" value={input.traceId} />
      {kept.map(([name, value]) => (
        <input key={`${name}=${value}`} type="hidden" name={name} value={value} />
      ))}
      <button type="submit" className="primary">
        Show
      </button>
    </form>
  );
}

type FieldProps = { name: string; label: string; value: string | number | null; placeholder?: string; type?: 'number' };

function Field({ name, label, value, placeholder, type }: FieldProps) {
  return (
    <label className="flex flex-col gap-1">
      {label}
      <input
        name={name}
        defaultValue={value ?? ''}
        placeholder={placeholder}
        type={type ?? 'text'}
        className={type === 'number' ? 'w-28' : 'w-40'}
        {...(type === 'number' ? { min: 0, step: 'any' } : {})}
      />
    </label>
  );
}
