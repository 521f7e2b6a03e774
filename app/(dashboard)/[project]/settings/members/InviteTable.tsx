'use client';

import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { sendJson } from '@/app/sendJson';
import type { InviteLine } from '@/lib/queries/loadMembers';
import { Scroller } from '../../Scroller';

type Props = { slug: string; invites: InviteLine[]; timeZone: string };

/** Invitations that nobody has used yet; nothing without any. */
export function InviteTable({ slug, invites, timeZone }: Props) {
  const router = useRouter();
  const [message, setMessage] = useState<string | null>(null);
  if (invites.length === 0) return null;
  async function revoke(id: string) {
    const sent = await sendJson('DELETE', `/api/internal/invites/${id}?project=${encodeURIComponent(slug)}`);
    setMessage(sent.ok ? null : sent.message);
    router.refresh();
  }
  return (
    <section className="card">
      <h2 className="mb-2">Open invitations</h2>
      {message && (
        <p role="alert" className="mb-2 text-bad">
          {message}
        </p>
      )}
      <Scroller label="Open invitations">
        <table>
          <caption className="sr-only">Invitations that nobody has used yet, newest first</caption>
          <thead>
            <tr>
              {['E-mail', 'Role', 'Until', 'Change'].map((heading) => (
                <th key={heading} scope="col">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {invites.map((invite) => (
              <tr key={invite.id} data-testid="invite">
                <th scope="row">{invite.email}</th>
                <td>{invite.role}</td>
                <td>
                  {new Date(invite.expiresAt).toLocaleString('en-GB', {
                    timeZone,
                    dateStyle: 'medium',
                    timeStyle: 'short',
                  })}
                </td>
                <td>
                  <button type="button" onClick={() => revoke(invite.id)} aria-label={`Withdraw ${invite.email}`}>
                    Withdraw
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </section>
  );
}
