// Every page of a project, one line each, in the order of the navigation. A page appears in the menu, the command
// palette and the keyboard help by its line here.

import {
  ChartLine,
  FlaskConical,
  Gauge,
  GitCompareArrows,
  Globe,
  KeyRound,
  Layers,
  List,
  ListChecks,
  type LucideIcon,
  Settings,
  ShieldCheck,
  Tags,
  Users,
  Waypoints,
} from 'lucide-react';

export type PageEntry = {
  /** Below the project's root; '' is the first screen. */
  path: string;
  name: string;
  /** What the page answers, in a person's words. */
  question: string;
  /** Pressed after `g`. */
  key: string;
  icon: LucideIcon;
};

export const PAGE_GROUPS: readonly { title: string; pages: readonly PageEntry[] }[] = [
  {
    title: 'Now',
    pages: [{ path: '', name: 'Overview', question: 'What should we fix first?', key: 'o', icon: Gauge }],
  },
  {
    title: 'Understand',
    pages: [
      { path: '/latency', name: 'Latency', question: 'How slow, for whom?', key: 'l', icon: ChartLine },
      { path: '/breakdown', name: 'Breakdown', question: 'Where does the time go?', key: 'b', icon: Layers },
      { path: '/what-if', name: 'What if', question: 'What would it gain?', key: 'w', icon: FlaskConical },
      { path: '/compare', name: 'Compare', question: 'What changed?', key: 'c', icon: GitCompareArrows },
      { path: '/regions', name: 'Regions', question: 'Who is far away?', key: 'm', icon: Globe },
      { path: '/requests', name: 'Requests', question: 'Which requests were slow?', key: 'r', icon: List },
    ],
  },
  {
    title: 'Set up',
    pages: [
      { path: '/setup', name: 'Set-up', question: 'How far is the measurement?', key: 'i', icon: ListChecks },
      {
        path: '/trust',
        name: 'Trust',
        question: 'Can I trust these numbers?',
        key: 't',
        icon: ShieldCheck,
      },
      {
        path: '/settings/endpoints',
        name: 'Endpoints',
        question: 'What do users wait for?',
        key: 'e',
        icon: Waypoints,
      },
      { path: '/settings/project', name: 'Project', question: 'Which zone, kept how long?', key: 'j', icon: Settings },
      { path: '/settings/rules', name: 'Term rules', question: 'What do our spans mean?', key: 'm', icon: Tags },
      { path: '/settings/members', name: 'Members', question: 'Who may see this project?', key: 'u', icon: Users },
      { path: '/settings/keys', name: 'Keys', question: 'Who may send and read?', key: 'k', icon: KeyRound },
    ],
  },
];

export const PAGES: readonly PageEntry[] = PAGE_GROUPS.flatMap((group) => group.pages);
