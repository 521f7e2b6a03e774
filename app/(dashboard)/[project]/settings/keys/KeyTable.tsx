'use client';

import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { sendJson } from '@/app/sendJson';
import type { KeyLine } from '@/lib/queries/loadKeys';
import { ScrollCard } from '../../ScrollCard';

export function KeyTable({ slug, keys, canRevoke }: { slug: string; keys: KeyLine[]; canRevoke: boolean }) {
  const router = useRouter();
  const [message, setMessage] = useState<string | null>(null);
  async function revoke(id: string) {
    const sent = await sendJson('DELETE', `/api/internal/keys/${id}?project=${encodeURIComponent(slug)}`);
    setMessage(sent.ok ? null : sent.message);
    router.refresh();
  }
  return (
    <ScrollCard label="Keys">
      {message && (
        <p role="alert" className="text-bad">
          {message}
        </p>
      )}
      <table>
        <caption className="sr-only">Keys, newest first</caption>
        <thead>
          <tr>
            {['Name', 'Scope', 'Begins with', 'Made', 'Last used', 'State'].map((heading) => (
              <th key={heading} scope="col">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {keys.map((key) => (
            <tr key={key.id} data-testid="key">
              <th scope="row">{key.name}</th>
              <td>
                {key.scope}
                {key.origins.length > 0 && ` (${key.origins.join(', ')})`}
              </td>
              <td>
                <code>{key.prefix}…</code>
              </td>
              <td>{inUtc(key.createdAt)}</td>
              <td>{key.lastUsedAt ? inUtc(key.lastUsedAt) : 'never'}</td>
              <td>
                {key.revokedAt ? `revoked ${inUtc(key.revokedAt)}` : 'in use'}{' '}
                {canRevoke && key.revokedAt === null && (
                  <button type="button" onClick={() => revoke(key.id)}>
                    Revoke
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollCard>
  );
}

function inUtc(text: string): string {
  return `${text.slice(0, 16).replace('T', ' ')} UTC`;
}
