import type { ReactNode } from 'react';
import { Icon, type IconName } from '../../components/icon.tsx';
import { useOpened } from './opened.ts';

type CollapsibleProps = {
  readonly name: string;
  readonly icon: IconName;
  readonly summary: ReactNode;
  readonly usually?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
};

/** A collapsible line. Collapsed content is not rendered. */
export function Collapsible({
  name,
  icon,
  summary,
  usually = false,
  className = '',
  children,
}: CollapsibleProps) {
  const [open, setOpen] = useOpened(name, usually);
  return (
    <div className={`folded ${className}`}>
      <button type="button" className="folded-head" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={icon} />
        <span className="folded-summary">{summary}</span>
        <span className="fold-mark" data-open={open || undefined}>
          <Icon name="chevron" />
        </span>
      </button>
      {open && <div className="folded-body">{children}</div>}
    </div>
  );
}
