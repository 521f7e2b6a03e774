import { clsx } from 'clsx';
import Link from 'next/link';

type Props = { label: string; choices: readonly { words: string; href: string }[]; chosen: string };

/** A few views of the same, as links: the address keeps which one it is. */
export function Choices({ label, choices, chosen }: Props) {
  return (
    <ul aria-label={label} className="flex flex-wrap gap-x-3">
      {choices.map(({ words, href }) => (
        <li key={words}>
          <Link
            href={href === '' ? '?' : href}
            scroll={false}
            aria-current={words === chosen ? 'true' : undefined}
            className={clsx(words === chosen && 'font-semibold text-ink underline')}
          >
            {words}
          </Link>
        </li>
      ))}
    </ul>
  );
}
