import type { ReactNode } from 'react';
import { CopyButton } from '../components/copy-button.tsx';

type SectionProps = {
  readonly title: string;
  /** '': nothing to copy */
  readonly copy: string;
  readonly children: ReactNode;
};

/** A titled part of a call, such as its output. */
export function CallSection({ title, copy, children }: SectionProps) {
  return (
    <section className="call-section">
      <div className="call-section-head">
        <h3>{title}</h3>
        {copy !== '' && <CopyButton text={copy} />}
      </div>
      {children}
    </section>
  );
}
