import { type ReactNode, useState } from 'react';
import { Icon, type IconName } from '../components/icon.tsx';

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

// Remembers what is expanded while rows are unmounted by scrolling.

const MOST = 2_000;
const chosen = new Map<string, boolean>();

/** `usually` applies until the reader has toggled it. */
function useOpened(key: string, usually: boolean): [boolean, (open: boolean) => void] {
  const [open, setOpen] = useState(chosen.get(key));
  return [
    open ?? usually,
    (next) => {
      if (chosen.size > MOST) chosen.clear();
      chosen.set(key, next);
      setOpen(next);
    },
  ];
}
