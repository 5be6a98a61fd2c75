import type { ReactNode } from 'react';

export type ChipLook = 'plain' | 'good' | 'busy' | 'waiting' | 'bad';

export function Chip({
  look = 'plain',
  title,
  children,
}: {
  look?: ChipLook;
  title?: string;
  children: ReactNode;
}) {
  return (
    <span className={`chip chip-${look}`} title={title}>
      {children}
    </span>
  );
}
