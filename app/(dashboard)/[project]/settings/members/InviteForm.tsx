'use client';

import { useRouter } from 'next/navigation';
import { type FormEvent, useState } from 'react';
import { sendJson } from '@/app/sendJson';
import { ROLES } from '@/lib/core/roles';

type Made = { token: string; expiresAt: string };
type Outcome = { kind: 'link'; link: string; email: string } | { kind: 'error'; message: string } | null;

/** Makes a link for one address; it is shown once, to be handed over. */
export function InviteForm({ slug }: { slug: string }) {
  const router = useRouter();
  const [outcome, setOutcome] = useState<Outcome>(null);
  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = event.currentTarget;
    const input = Object.fromEntries(new FormData(form));
    const sent = await sendJson<Made>('POST', `/api/internal/invites?project=${encodeURIComponent(slug)}`, input);
    if (!sent.ok) return setOutcome({ kind: 'error', message: sent.message });
    const link = `${window.location.origin}/invite?token=${sent.body.token}`;
    setOutcome({ kind: 'link', link, email: String(input.email) });
    form.reset();
    router.refresh();
  }
  return (
    <form onSubmit={submit} className="card flex flex-wrap items-end gap-3" aria-label="Invite somebody">
      <label className="flex flex-col gap-1">
        E-mail
        <input name="email" type="email" required maxLength={254} className="w-64 max-w-full" />
      </label>
      <label className="flex flex-col gap-1">
        Role
        <select name="role" defaultValue="member">
          {ROLES.map((role) => (
            <option key={role}>{role}</option>
          ))}
        </select>
      </label>
      <button type="submit" className="primary">
        Make an invitation
      </button>
      {outcome?.kind === 'error' && (
        <p role="alert" className="w-full text-bad">
          {outcome.message}
        </p>
      )}
      {outcome?.kind === 'link' && (
        <p role="status" className="w-full">
          Hand this link to {outcome.email}; it is shown only now, works once and lasts 7 days:{' '}
          <code data-testid="invite-link" className="break-all select-all">
            {outcome.link}
          </code>
        </p>
      )}
    </form>
  );
}
