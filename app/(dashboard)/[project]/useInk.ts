'use client';

import { useEffect, useState } from 'react';

export type Ink = { ink: string; quiet: string; line: string; card: string; accent: string };
const LIGHT: Ink = { ink: '#141a22', quiet: '#56606d', line: '#dfe4ea', card: '#ffffff', accent: '#1d5fd1' };
const DARK: Ink = { ink: '#e8edf3', quiet: '#9dabbb', line: '#2b3542', card: '#171e27', accent: '#7fb0ff' };

/** Chart colours for the theme in use; canvases do not follow the style sheet by themselves. */
export function useInk(): Ink {
  const [isDark, setDark] = useState(false);
  useEffect(() => {
    const query = window.matchMedia('(prefers-color-scheme: dark)');
    const root = document.documentElement;
    const follow = () => {
      const { theme } = root.dataset;
      setDark(theme === 'dark' || (theme !== 'light' && query.matches));
    };
    follow();
    query.addEventListener('change', follow);
    const observer = new MutationObserver(follow);
    observer.observe(root, { attributeFilter: ['data-theme'] });
    return () => {
      query.removeEventListener('change', follow);
      observer.disconnect();
    };
  }, []);
  return isDark ? DARK : LIGHT;
}
