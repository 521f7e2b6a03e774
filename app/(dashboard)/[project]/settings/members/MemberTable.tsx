'use client';

import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { sendJson } from '@/app/sendJson';
import { ROLES } from '@/lib/core/roles';
import type { MemberLine } from '@/lib/queries/loadMembers';
import { Scroller } from '../../Scroller';

type Props = {
  slug: string;
  members: MemberLine[];
  ownUserId: string | null;
  canChange: boolean;
  timeZone: string;
};

export function MemberTable({ slug, members, ownUserId, canChange, timeZone }: Props) {
  const router = useRouter();
  const [message, setMessage] = useState<string | null>(null);
  async function send(member: MemberLine, change: { role: string } | null) {
    const url = `/api/internal/members/${member.userId}?project=${encodeURIComponent(slug)}`;
    const sent = change === null ? await sendJson('DELETE', url) : await sendJson('PATCH', url, change);
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
      <Scroller label="Members">
        <table>
          <caption className="sr-only">Members, the first to join first</caption>
          <thead>
            <tr>
              {['E-mail', 'Role', 'Since', ...(canChange ? ['Change'] : [])].map((heading) => (
                <th key={heading} scope="col">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {members.map((member) => (
              <tr key={`${member.userId} ${member.role}`} data-testid="member" data-email={member.email}>
                <th scope="row">
                  {member.email}
                  {member.userId === ownUserId && ' (you)'}
                </th>
                <td>
                  {canChange ? (
                    <select
                      aria-label={`Role of ${member.email}`}
                      defaultValue={member.role}
                      onChange={(event) => send(member, { role: event.target.value })}
                    >
                      {ROLES.map((role) => (
                        <option key={role}>{role}</option>
                      ))}
                    </select>
                  ) : (
                    member.role
                  )}
                </td>
                <td>{new Date(member.since).toLocaleDateString('en-GB', { timeZone, dateStyle: 'medium' })}</td>
                {canChange && (
                  <td>
                    <button type="button" onClick={() => send(member, null)} aria-label={`Remove ${member.email}`}>
                      Remove
                    </button>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </section>
  );
}
