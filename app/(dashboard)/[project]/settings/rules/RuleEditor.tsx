'use client';

import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { sendJson } from '@/app/sendJson';
import type { TermRule } from '@/lib/core/trace/attributed';
import type { RulesPreview } from '@/lib/queries/previewTermRules';
import { PreviewTable } from './PreviewTable';
import { RuleFields } from './RuleFields';

type Props = { slug: string; initial: readonly TermRule[]; version: number | null; canEdit: boolean };

const EMPTY: TermRule = { when: [{ attribute: 'span.name', is: 'equal', value: '' }], set: { term: 'application' } };

/** Keeps only what is set, as the contract wants it. */
function cleaned(rule: TermRule): TermRule {
  const set = Object.fromEntries(Object.entries(rule.set).filter(([, value]) => value !== undefined && value !== ''));
  const when = rule.when.map(({ attribute, is, value }) =>
    is === 'present' ? { attribute, is } : { attribute, is, value: value ?? '' },
  );
  return { when, set };
}

export function RuleEditor({ slug, initial, version, canEdit }: Props) {
  const router = useRouter();
  // a rule has no id: the number it was given here stays with it while it moves
  const [rules, setRules] = useState(() => initial.map((rule, key) => ({ key, rule })));
  const [preview, setPreview] = useState<RulesPreview | null>(null);
  const [message, setMessage] = useState<{ text: string; isBad: boolean } | null>(null);
  const query = `?project=${encodeURIComponent(slug)}`;
  const body = () => ({ rules: rules.map(({ rule }) => cleaned(rule)) });

  function change(key: number, rule: TermRule | null): void {
    setPreview(null);
    setRules((all) => all.flatMap((one) => (one.key !== key ? one : rule === null ? [] : { key, rule })));
  }
  async function tryOut(): Promise<void> {
    const sent = await sendJson<RulesPreview>('POST', `/api/v1/term-rules/preview${query}`, body());
    setPreview(sent.ok ? sent.body : null);
    setMessage(sent.ok ? null : { text: sent.message, isBad: true });
  }
  async function save(): Promise<void> {
    const sent = await sendJson<{ version: number }>('PUT', `/api/v1/term-rules${query}`, body());
    setMessage(
      sent.ok
        ? { text: `Saved as version ${sent.body.version}; traces that end from now on follow it.`, isBad: false }
        : { text: sent.message, isBad: true },
    );
    if (sent.ok) router.refresh();
  }

  return (
    <div className="flex flex-col gap-4">
      {rules.length === 0 && <p className="card">No rules: spans are classified by the conventions alone.</p>}
      {rules.map(({ key, rule }, index) => (
        <RuleFields
          key={key}
          number={index + 1}
          rule={rule}
          matched={preview?.matchedSpans[index] ?? null}
          disabled={!canEdit}
          onChange={(changed) => change(key, changed)}
        />
      ))}
      {canEdit ? (
        <div className="flex flex-wrap gap-3">
          <button
            type="button"
            onClick={() =>
              setRules((all) => [...all, { key: Math.max(-1, ...all.map((r) => r.key)) + 1, rule: EMPTY }])
            }
          >
            Add a rule
          </button>
          <button type="button" onClick={tryOut}>
            Preview on recent traces
          </button>
          <button type="button" className="primary" onClick={save}>
            Save
          </button>
        </div>
      ) : (
        <p className="text-quiet">Owners change rules.</p>
      )}
      {message && (
        <p role={message.isBad ? 'alert' : 'status'} className={message.isBad ? 'text-bad' : 'text-good'}>
          {message.text}
        </p>
      )}
      {preview && <PreviewTable preview={preview} />}
      {version !== null && <p className="text-quiet">Version {version} is in force.</p>}
    </div>
  );
}
