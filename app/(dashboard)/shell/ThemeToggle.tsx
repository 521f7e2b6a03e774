'use client';

import { Monitor, Moon, Sun } from 'lucide-react';
import { useEffect, useId, useState } from 'react';
import { parseTheme, THEME_COOKIE, THEMES, type Theme } from '@/app/theme';

const YEAR_S = 31_536_000;
const ICONS = { system: Monitor, light: Sun, dark: Moon };
const LABELS: Record<Theme, string> = { system: 'As the system', light: 'Light', dark: 'Dark' };

/** System, light or dark. Kept in a cookie, so that the server already renders the right one. */
export function ThemeToggle({ initial }: { initial: Theme }) {
  const name = useId();
  const [theme, setTheme] = useState(initial);
  useEffect(() => setTheme(parseTheme(document.documentElement.dataset.theme)), []); // chosen since the layout was made
  function choose(next: Theme) {
    setTheme(next);
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser
    document.cookie = `${THEME_COOKIE}=${next}; path=/; max-age=${YEAR_S}; samesite=lax`;
    document.documentElement.dataset.theme = next;
  }
  return (
    <fieldset className="flex rounded border border-line">
      <legend className="sr-only">Colour theme</legend>
      {THEMES.map((value) => {
        const Icon = ICONS[value];
        return (
          <label key={value} title={LABELS[value]} className="theme-choice">
            <input
              type="radio"
              name={name}
              className="sr-only"
              aria-label={LABELS[value]}
              checked={theme === value}
              onChange={() => choose(value)}
            />
            <Icon aria-hidden="true" className="size-4" />
          </label>
        );
      })}
    </fieldset>
  );
}
