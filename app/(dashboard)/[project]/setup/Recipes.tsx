import Link from 'next/link';

const EVENT = `curl -sS "$ISOCHRONE_URL/api/v1/events" -H "Authorization: Bearer $ISOCHRONE_KEY" \\
  -H 'content-type: application/json' -d '[{
    "id": "'$(date +%s%N)'", "startedAt": "'$(date -u +%FT%TZ)'", "endpoint": "chat", "vantage": "client",
    "clientRegion": "eu-west-2", "serviceRegion": "us-east-1",
    "e2eMs": 420, "serviceMs": 330, "terms": {"connectionMs": 0, "modelMs": 180}
  }]'`;

const OTLP = `export OTEL_EXPORTER_OTLP_ENDPOINT="$ISOCHRONE_URL"
export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer $ISOCHRONE_KEY"
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf`;

const RECIPES = [
  ['event', 'One event, from anywhere', EVENT],
  ['otlp', 'OpenTelemetry: the exporter that a service has already', OTLP],
] as const;

/** What to send, ready to copy. */
export function Recipes({ slug }: { slug: string }) {
  return (
    <section className="card flex flex-col gap-3">
      <h2>How to send more</h2>
      <p className="text-quiet">
        With a key from <Link href={`/${slug}/settings/keys`}>Keys</Link> in ISOCHRONE_KEY and this server’s address in
        ISOCHRONE_URL. From a browser, a browser key makes what it sends count as measured at the client.
      </p>
      {RECIPES.map(([name, title, text]) => (
        <div key={name} data-testid="recipe" data-recipe={name}>
          <h3 className="mb-1 font-medium">{title}</h3>
          <pre className="rounded border border-line p-3 break-all whitespace-pre-wrap select-all">{text}</pre>
        </div>
      ))}
    </section>
  );
}
