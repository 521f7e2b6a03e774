import type { ReactNode } from 'react';

/** A card whose table may be wider than the screen; the keyboard reaches it to scroll. */
export function ScrollCard({ label, children }: { label: string; children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section aria-label={label} tabIndex={0} className="card overflow-x-auto">
      {children}
    </section>
  );
}
