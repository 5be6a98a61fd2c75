/** Icons, buttons, fields, chips and messages: what every page is made of. */

import { ParlanceError } from '@parlance/sdk';
import {
  type ButtonHTMLAttributes,
  type ComponentProps,
  type JSX,
  type ReactNode,
  useEffect,
  useId,
  useState,
} from 'react';
import { store, useStore } from '../state/store.ts';

/** 24×24 line icons in the current text colour. Decorative: label the control. */
const PATHS = {
  plus: 'M12 5v14M5 12h14',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM20 20l-4-4',
  menu: 'M4 7h16M4 12h16M4 17h16',
  more: 'M5 12a1 1 0 1 0 2 0 1 1 0 1 0-2 0ZM11 12a1 1 0 1 0 2 0 1 1 0 1 0-2 0ZM17 12a1 1 0 1 0 2 0 1 1 0 1 0-2 0Z',
  close: 'M6 6l12 12M18 6 6 18',
  check: 'M5 12.5 10 17 19 7',
  copy: 'M9 9h10v11H9zM5 15V4h10',
  edit: 'M4 20h4L19 9l-4-4L4 16v4Z',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  archive: 'M4 5h16v4H4zM6 9v10h12V9M10 13h4',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  send: 'M12 20V5M6 11l6-6 6 6',
  stop: 'M7 7h10v10H7z',
  attach: 'M20 11.5 12 19a5 5 0 0 1-7-7l8-8a3.5 3.5 0 0 1 5 5l-8 8a2 2 0 0 1-3-3l7-7',
  retry: 'M19 12a7 7 0 1 1-2-5l2 2M19 4v5h-5',
  rewind: 'M12 6l-7 6 7 6zM20 6l-7 6 7 6z',
  back: 'M15 6l-6 6 6 6',
  chevron: 'M9 6l6 6-6 6',
  down: 'M12 5v14M6 13l6 6 6-6',
  chat: 'M4 5h16v11H9l-5 4z',
  shield: 'M12 3l8 3v6c0 5-3.5 8-8 9-4.5-1-8-4-8-9V6zM9 12l2 2 4-4',
  question:
    'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.7.4-1.1.9-1.1 1.8M12 16.5v.5',
  timeline: 'M6 4v16M6 7h6M6 12h12M6 17h9',
  playground: 'M4 6h16v12H4zM8 10l2 2-2 2M12.5 14H16',
  admin:
    'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.2 2.2M16.2 16.2l2.2 2.2M5.6 18.4l2.2-2.2M16.2 7.8l2.2-2.2',
  settings: 'M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4',
  eye: 'M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12ZM12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z',
  zoom: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM20 20l-4-4M8 11h6M11 8v6',
  wrap: 'M4 6h16M4 12h12a3 3 0 0 1 0 6h-4M14 16l-2 2 2 2M4 18h4',
  guide: 'M5 4h9a4 4 0 0 1 4 4v12H8a3 3 0 0 1-3-3zM5 17a3 3 0 0 1 3-3h10',
  model: 'M7 7h10v10H7zM10 4v3M14 4v3M10 17v3M14 17v3M4 10h3M4 14h3M17 10h3M17 14h3',
  agent: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM5 20a7 7 0 0 1 14 0',
  tool: 'M14 6a4 4 0 0 0-5 5l-5 5 3 3 5-5a4 4 0 0 0 5-5l-2.5 2.5-3-3z',
  thought: 'M12 4a6 6 0 0 1 3 11v2H9v-2a6 6 0 0 1 3-11ZM10 20h4',
  plan: 'M5 6l1.5 1.5L9 5M5 12l1.5 1.5L9 11M5 18l1.5 1.5L9 17M12 6h7M12 12h7M12 18h7',
  image: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15.5 9.5h.01',
  mention: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM16 8v5.5a2.5 2.5 0 0 0 5 0V12a9 9 0 1 0-4 7.5',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  folder: 'M3 6h6l2 2h10v11H3z',
  leave: 'M14 4H5v16h9M10 12h10M17 8.5l3.5 3.5-3.5 3.5',
  info: 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 11v5M12 8h.01',
  alert: 'M12 4l9 16H3zM12 10v4M12 17h.01',
  branch: 'M6 5v14M6 16h6a5 5 0 0 0 5-5V6M13.5 9.5 17 6l3.5 3.5',
  pin: 'M9 4h6l-1 6 4 4H6l4-4zM12 14v6',
  tag: 'M4 4h7l9 9-7 7-9-9zM8 8h.01',
  link: 'M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  /** `primary`: the main action of a page; `danger`: cannot be undone */
  readonly variant?: 'plain' | 'primary' | 'danger' | 'quiet';
  readonly icon?: IconName;
};

export function Button({ variant = 'plain', icon, className = '', children, ...rest }: ButtonProps) {
  return (
    <button type="button" className={`button button-${variant} ${className}`} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

type IconButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & {
  readonly icon: IconName;
  /** accessible name and tooltip */
  readonly label: string;
};

export function IconButton({ icon, label, className = '', ...rest }: IconButtonProps) {
  return (
    <button type="button" className={`icon-button ${className}`} aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}

export type ChipVariant = 'plain' | 'good' | 'busy' | 'waiting' | 'bad';

type ChipProps = { readonly variant?: ChipVariant; readonly title?: string; readonly children: ReactNode };

export function Chip({ variant = 'plain', title, children }: ChipProps) {
  return (
    <span className={`chip chip-${variant}`} title={title}>
      {children}
    </span>
  );
}

// A control with its label. The label is a sibling, so that the accessible name is the label alone.

type ChoiceProps = {
  readonly label: string;
  readonly className?: string;
  readonly children: (id: string) => ReactNode;
};

export function Choice({ label, className = '', children }: ChoiceProps) {
  const id = useId();
  return (
    <div className={`choice ${className}`}>
      <label htmlFor={id}>{label}</label>
      {children(id)}
    </div>
  );
}

type Labelled<Tag extends keyof JSX.IntrinsicElements> = ComponentProps<Tag> & { readonly label: string };

/** A text field below its label. */
export const Field = ({ label, ...input }: Labelled<'input'>) => (
  <label className="field">
    {label}
    <input autoComplete="off" {...input} />
  </label>
);

export const TextArea = ({ label, ...area }: Labelled<'textarea'>) => (
  <label className="field">
    {label}
    <textarea {...area} />
  </label>
);

type ComboboxProps = Omit<ComponentProps<'input'>, 'list'> & {
  readonly label: string;
  /** id of the list box, whose options have this id with their index */
  readonly list: string;
  /** index of the active option; -1: there is none */
  readonly active: number;
};

/** The search field of an open list. It keeps the focus while arrow keys move in the list. */
export const Combobox = ({ label, list, active, ...input }: ComboboxProps) => (
  <input
    role="combobox"
    aria-expanded="true"
    aria-label={label}
    aria-controls={list}
    aria-activedescendant={active < 0 ? undefined : `${list}-${active}`}
    autoComplete="off"
    spellCheck={false}
    maxLength={200}
    {...input}
  />
);

/** `options` are values with their texts. */
export const Select = ({
  label,
  options,
  ...select
}: Labelled<'select'> & { readonly options: readonly (readonly [value: string, text: string])[] }) => (
  <label className="field">
    {label}
    <select {...select}>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  </label>
);

type NoticeVariant = 'plain' | 'good' | 'warning' | 'danger';

const ICONS: Readonly<Record<NoticeVariant, IconName>> = {
  plain: 'info',
  good: 'check',
  warning: 'alert',
  danger: 'alert',
};

type NoticeProps = {
  readonly variant?: NoticeVariant;
  readonly children: ReactNode;
  /** an action for the notice */
  readonly action?: ReactNode;
};

/** A message in the page, announced by screen readers. */
export function Notice({ variant = 'plain', children, action }: NoticeProps) {
  return (
    <div className={`notice notice-${variant}`} role={variant === 'danger' ? 'alert' : 'status'}>
      <Icon name={ICONS[variant]} />
      <div>{children}</div>
      {action}
    </div>
  );
}

type EmptyProps = { readonly title: string; readonly children?: ReactNode; readonly action?: ReactNode };

/** Empty state: the reason and the next action. */
export function Empty({ title, children, action }: EmptyProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}

// Temporary messages in a polite live region below the page, which makes room for them.

type ToastAction = { readonly label: string; readonly run: () => void };
type Toast = { readonly id: number; readonly text: string; readonly action?: ToastAction };

const toasts = store<readonly Toast[]>([]);
const SHOWN_MS = 6_000;
const SHOWN_WITH_ACTION_MS = 12_000;
let last = 0;

const drop = (id: number) => toasts.set(toasts.get().filter((toast) => toast.id !== id));

export function toast(text: string, action?: ToastAction): void {
  const id = ++last;
  const others = toasts.get().filter((other) => other.text !== text);
  toasts.set([...others.slice(-2), { id, text, action }]);
  setTimeout(() => drop(id), action ? SHOWN_WITH_ACTION_MS : SHOWN_MS);
}

/** Runs an action and shows a `ParlanceError` as a toast. Rethrows anything else. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (thrown) {
    if (!(thrown instanceof ParlanceError)) throw thrown;
    toast(thrown.message);
    return false;
  }
}

/** For work that a form starts: whether it is under way, and the text of the `ParlanceError` that it threw. */
export function useAttempt(textOf: (thrown: ParlanceError) => string = ({ message }) => message) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  /** False after a `ParlanceError`. Rethrows anything else. */
  async function run(work: () => unknown): Promise<boolean> {
    setProblem(null);
    setBusy(true);
    try {
      await work();
      return true;
    } catch (thrown) {
      if (!(thrown instanceof ParlanceError)) throw thrown;
      setProblem(textOf(thrown));
      return false;
    } finally {
      setBusy(false);
    }
  }
  return { busy, problem, setProblem, run };
}

export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, text, action }) => (
        <div className="toast" key={id}>
          <span>{text}</span>
          {action && (
            <Button
              onClick={() => {
                drop(id);
                action.run();
              }}
            >
              {action.label}
            </Button>
          )}
          <IconButton icon="close" label="Dismiss" onClick={() => drop(id)} />
        </div>
      ))}
    </div>
  );
}

/** True if the text is in the clipboard; otherwise shows why not. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    toast('Copying needs https or localhost in this browser.');
    return false;
  }
}

/** Copies on click; `text` can be a function if it is expensive to build. */
export function CopyButton({ text, label = 'Copy' }: { text: string | (() => string); label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);

  const copy = async () => setCopied(await copyText(typeof text === 'string' ? text : text()));
  return <IconButton icon={copied ? 'check' : 'copy'} label={copied ? 'Copied' : label} onClick={copy} />;
}

/** Offers a file as a download. */
export function download(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  // Titles can contain characters that file names cannot.
  link.download = name.replace(/[\\/:*?"<>|]+/g, '-');
  link.click();
  URL.revokeObjectURL(url);
}

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

const MAX_REMEMBERED = 2_000;
const opened = new Map<string, boolean>();

/** `usually` applies until the reader has toggled it. */
function useOpened(key: string, usually: boolean): [boolean, (open: boolean) => void] {
  const [open, setOpen] = useState(opened.get(key));
  return [
    open ?? usually,
    (next) => {
      rememberOpened(key, next);
      setOpen(next);
    },
  ];
}

export function rememberOpened(key: string, open: boolean): void {
  if (opened.size > MAX_REMEMBERED) opened.clear();
  opened.set(key, open);
}

/** Undefined until the reader has toggled it. */
export const wasOpened = (key: string): boolean | undefined => opened.get(key);
