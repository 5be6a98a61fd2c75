/** A section: its content, or the error and what to do about it. */

import { Button } from '@parlance/ui/components/button.tsx';
import { NoAccess } from '@parlance/ui/components/no-access.tsx';
import { Notice } from '@parlance/ui/components/notice.tsx';
import { useShownFault } from '@parlance/ui/state/activity.ts';
import type { ReactNode } from 'react';
import type { Polled } from '../../state/use-polled.ts';

type SectionProps<Value> = {
  readonly title: string;
  /** `again` is null if it refreshes by itself */
  readonly polled: Pick<Polled<Value>, 'value' | 'fault'> & { readonly again: (() => void) | null };
  readonly actions?: ReactNode;
  readonly children: (value: Value) => ReactNode;
};

export function Section<Value>({ title, polled, actions, children }: SectionProps<Value>) {
  const { value, again } = polled;
  const fault = useShownFault(polled.fault);
  const refused = fault?.code === 'forbidden';
  return (
    <section
      className="admin-section"
      aria-labelledby="admin-section-title"
      aria-busy={value === null && !fault}
    >
      <div className="admin-head">
        <h2 id="admin-section-title">{title}</h2>
        {value !== null && !refused && actions}
      </div>
      {refused && <NoAccess />}
      {fault && !refused && (
        <Notice variant="danger" action={again && <Button onClick={again}>Try again</Button>}>
          {fault.message}
          {value !== null && ' The values shown may be out of date.'}
        </Notice>
      )}
      {value !== null && !refused && children(value)}
    </section>
  );
}
