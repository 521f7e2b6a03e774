'use client';

import { useEffect, useState } from 'react';
import { Chooser } from './Chooser';
import type { Zones } from './RangePicker';

/** The zone that times are shown in. Null goes back to the project's. Buckets stay the project's hours and days. */
export function ZoneChooser({ zones, onChoose }: { zones: Zones; onChoose: (zone: string | null) => void }) {
  const [own, setOwn] = useState<string[]>([]);
  useEffect(
    () => setOwn([Intl.DateTimeFormat().resolvedOptions().timeZone, ...Intl.supportedValuesOf('timeZone')]),
    [],
  );
  return (
    <Chooser
      label="Times in"
      isSingle
      isPlain
      values={[zones.project, 'UTC', ...own]}
      chosen={[zones.shown]}
      wordsOf={(zone) => (zone === zones.project ? `${zone} (project)` : zone)}
      onChoose={([zone]) => onChoose(zone === undefined || zone === zones.project ? null : zone)}
    />
  );
}
