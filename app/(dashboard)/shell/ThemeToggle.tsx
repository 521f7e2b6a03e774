'use client';

import { Monitor, Moon, Sun } from 'lucide-react';
import { ToggleGroup } from 'radix-ui';
import { useEffect, useState } from 'react';
import { parseTheme, THEME_COOKIE, THEMES, type Theme } from '@/app/theme';

const YEAR_S = 31_536_000;
const ICONS = { system: Monitor, light: Sun, dark: Moon };
const LABELS: Record<Theme, string> = { system: 'As the system', light: 'Light', dark: 'Dark' };

/** System, light or dark. Kept in a cookie, so that the server already renders the right one. */
export function ThemeToggle({ initial }: { initial: Theme }) {
  const [theme, setTheme] = useState(initial);
  useEffect(() => setTheme(parseTheme(document.documentElement.dataset.theme)), []); // chosen since the layout was made
  function choose(value: string) {
    const next = THEMES.find((known) => known === value);
    if (next === undefined) return; // the chosen one was pressed again
    setTheme(next);
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not in every browser
    document.cookie = `${THEME_COOKIE}=${next}; path=/; max-age=${YEAR_S}; samesite=lax`;
    document.documentElement.dataset.theme = next;
  }
  return (
    <ToggleGroup.Root
      type="single"
      value={theme}
      onValueChange={choose}
      aria-label="Colour theme"
      className="flex rounded border border-line"
    >
      {THEMES.map((value) => {
        const Icon = ICONS[value];
        return (
          <ToggleGroup.Item
            key={value}
            value={value}
            aria-label={LABELS[value]}
            title={LABELS[value]}
            className="icon-button border-0 data-[state=on]:bg-hover data-[state=on]:text-accent"
          >
            <Icon aria-hidden="true" className="size-4" />
          </ToggleGroup.Item>
        );
      })}
    </ToggleGroup.Root>
  );
}
