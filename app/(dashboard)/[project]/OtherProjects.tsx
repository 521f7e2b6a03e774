import Link from 'next/link';
import { loadProjectsOf } from '@/lib/queries/loadProject';

/** Links to the person's other projects; nothing when there are none. */
export async function OtherProjects({ userId, current }: { userId: string | null; current: string }) {
  if (userId === null) return null;
  const others = (await loadProjectsOf(userId)).filter((project) => project.slug !== current);
  if (others.length === 0) return null;
  return (
    <details className="relative">
      <summary>Projects</summary>
      <ul className="card absolute right-0 z-10 mt-1 flex min-w-48 flex-col gap-2 shadow">
        {others.map((project) => (
          <li key={project.slug}>
            <Link href={`/${project.slug}`}>{project.name}</Link>
          </li>
        ))}
      </ul>
    </details>
  );
}
