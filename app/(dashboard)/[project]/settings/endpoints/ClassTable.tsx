'use client';

import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { sendJson } from '@/app/sendJson';
import { ENDPOINT_CLASSES } from '@/lib/core/endpointClass';
import type { EndpointClassLine } from '@/lib/queries/loadEndpointClassList';
import { Scroller } from '../../Scroller';

type Props = { slug: string; classes: EndpointClassLine[]; canChange: boolean };

const WAITS = { e2e: 'complete answer', ttft: 'first output' } as const;

export function ClassTable({ slug, classes, canChange }: Props) {
  const router = useRouter();
  const [message, setMessage] = useState<string | null>(null);
  async function choose(endpoint: string, value: string) {
    const input = { classes: [{ endpoint, class: value === '' ? null : value }] };
    const sent = await sendJson('PUT', `/api/v1/endpoint-classes?project=${encodeURIComponent(slug)}`, input);
    setMessage(sent.ok ? null : sent.message);
    router.refresh();
  }
  return (
    <section className="card">
      {message && (
        <p role="alert" className="mb-2 text-bad">
          {message}
        </p>
      )}
      <Scroller label="Endpoints">
        <table>
          <caption className="sr-only">Endpoints with their class, by name</caption>
          <thead>
            <tr>
              {['Endpoint', 'Class', 'The wait is the', 'Decided'].map((heading) => (
                <th key={heading} scope="col">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {classes.map((line) => (
              <tr
                key={`${line.endpoint} ${line.class} ${line.source}`}
                data-testid="class"
                data-endpoint={line.endpoint}
              >
                <th scope="row" className="break-all">
                  {line.endpoint}
                </th>
                <td>
                  {canChange ? (
                    <select
                      aria-label={`Class of ${line.endpoint}`}
                      defaultValue={line.source === 'set' ? (line.class ?? '') : ''}
                      onChange={(event) => choose(line.endpoint, event.target.value)}
                    >
                      <option value="">
                        {line.source === 'guessed' && line.class !== null ? `guess (${line.class})` : 'guess'}
                      </option>
                      {ENDPOINT_CLASSES.map((one) => (
                        <option key={one}>{one}</option>
                      ))}
                    </select>
                  ) : (
                    (line.class ?? 'not guessed yet')
                  )}
                </td>
                <td>{line.wait === null ? 'guessed from what is in view' : WAITS[line.wait]}</td>
                <td>{line.source === null ? '–' : line.source === 'set' ? 'set by hand' : 'guessed'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </section>
  );
}
