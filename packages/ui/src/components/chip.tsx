import type { ReactNode } from 'react';

export type ChipVariant = 'plain' | 'good' | 'busy' | 'waiting' | 'bad';

export function Chip({
  variant = 'plain',
  title,
  children,
}: {
  variant?: ChipVariant;
  title?: string;
  children: ReactNode;
}) {
  return (
    <span className={`chip chip-${variant}`} title={title}>
      {children}
    </span>
  );
}
