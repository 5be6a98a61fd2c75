/** Chooses a model: a button that opens a searchable list. Any other name can be entered, too. */

import {
  Fragment,
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { counted } from '../../chat/cost.ts';
import { may } from '../../state/may.ts';
import { type ListedModels, loadModels, useListedModels } from '../../state/models.ts';
import { hrefOf } from '../../state/router.ts';
import { useServer } from '../../state/server.ts';
import { Button, Combobox, Icon } from '../controls.tsx';
import { placeBeside } from '../place-beside.ts';
import { type Matches, type ModelGroup, type ModelOption, matching, modelGroups } from './options.ts';

type ModelPickerProps = {
  /** null: the default */
  readonly value: string | null;
  /** name of the default model */
  readonly fallback: string;
  /** looks like the fields of a form */
  readonly field?: boolean;
  /** instead of the chosen model */
  readonly label?: string;
  readonly onChoose: (model: string | null) => void;
};

export function ModelPicker({ value, fallback, field = false, label, onChoose }: ModelPickerProps) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const shown = label ?? value ?? `${fallback} (default)`;
  const isChip = !field && label === undefined;

  function close(): void {
    setOpen(false);
    button.current?.focus();
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        className={`model-button ${field ? 'model-field' : 'picker'}`}
        aria-label={label ?? `Model: ${shown}`}
        aria-haspopup="dialog"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {isChip && <Icon name="model" />}
        {isChip && <span className="picker-label">{'Model: '}</span>}
        <span className={isChip ? 'picker-value' : undefined}>{isChip ? (value ?? fallback) : shown}</span>
        <Icon name="chevron" />
      </button>
      {open && (
        <ModelPanel
          button={button}
          value={value}
          fallback={fallback}
          onLeave={() => setOpen(false)}
          onClose={close}
          onChoose={(model) => {
            close();
            if (model !== value) onChoose(model);
          }}
        />
      )}
    </>
  );
}

// The open list of models. The focus stays in the field; arrow keys move, Enter chooses, Escape closes.

/** More are found by typing. */
const MOST_SHOWN = 200;
const PAGE = 8;

type ModelPanelProps = {
  readonly button: RefObject<HTMLButtonElement | null>;
  readonly value: string | null;
  readonly fallback: string;
  readonly onChoose: (model: string | null) => void;
  /** Escape: the focus returns to the button. */
  readonly onClose: () => void;
  /** The focus is already elsewhere. */
  readonly onLeave: () => void;
};

function ModelPanel({ button, value, fallback, onChoose, onClose, onLeave }: ModelPanelProps) {
  const panel = useRef<HTMLDivElement>(null);
  const list = useId();
  const { models: named } = useServer();
  const listed = useListedModels();
  const [query, setQuery] = useState('');
  const [moved, setMoved] = useState<number | null>(null);
  const groups = modelGroups({ named, providers: listed.providers ?? [], fallback, chosen: value });
  const matches = matching(groups, query, MOST_SHOWN);
  const options = matches.groups.flatMap((group) => group.options);
  const current = query.trim() === '' ? options.findIndex((option) => option.value === value) : 0;
  const at = Math.min(moved ?? Math.max(0, current), options.length - 1);

  useEffect(() => void loadModels(), []);
  useLayoutEffect(() => {
    panel.current?.showPopover();
    panel.current?.querySelector('input')?.focus({ preventScroll: true });
  }, []);
  useLayoutEffect(() => {
    const place = () => {
      const from = button.current?.getBoundingClientRect();
      if (panel.current && from) placeBeside(panel.current, from);
    };
    place();
    const stop = new AbortController();
    const { signal } = stop;
    addEventListener('resize', place, { signal });
    addEventListener('scroll', place, { capture: true, signal });
    window.visualViewport?.addEventListener('resize', place, { signal });
    return () => stop.abort();
  }, [button]);
  useEffect(() => {
    const pressed = ({ target }: PointerEvent) => {
      const isInside = (element: Element | null) => target instanceof Node && element?.contains(target);
      if (!isInside(panel.current) && !isInside(button.current)) onLeave();
    };
    addEventListener('pointerdown', pressed);
    return () => removeEventListener('pointerdown', pressed);
  }, [button, onLeave]);

  function onKeyDown(event: KeyboardEvent): void {
    if (event.nativeEvent.isComposing) return;
    const isInField = event.target instanceof HTMLInputElement;
    const last = options.length - 1;
    if (event.key === 'Escape') onClose();
    else if (!isInField) return;
    else if (event.key === 'ArrowDown') setMoved(at === last ? 0 : at + 1);
    else if (event.key === 'ArrowUp') setMoved(at <= 0 ? last : at - 1);
    else if (event.key === 'PageDown') setMoved(Math.min(last, at + PAGE));
    else if (event.key === 'PageUp') setMoved(Math.max(0, at - PAGE));
    else if (event.key === 'Enter') {
      const option = options[at];
      if (option) onChoose(option.value);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div
      ref={panel}
      role="dialog"
      aria-label="Choose a model"
      className="model-panel"
      popover="manual"
      onKeyDown={onKeyDown}
      onBlur={({ relatedTarget, currentTarget }) => {
        if (relatedTarget && !currentTarget.contains(relatedTarget)) onLeave();
      }}
    >
      <Combobox
        label="Search models"
        list={list}
        active={at}
        placeholder="Search, or enter a model name"
        value={query}
        onChange={({ target }) => {
          setQuery(target.value);
          setMoved(null);
        }}
      />
      <ModelList id={list} groups={matches.groups} at={at} chosen={value} onChoose={onChoose} />
      <PanelStatus listed={listed} matches={matches} />
    </div>
  );
}

type ModelListProps = {
  readonly id: string;
  readonly groups: readonly ModelGroup[];
  /** index of the active option over all groups */
  readonly at: number;
  readonly chosen: string | null;
  readonly onChoose: (model: string | null) => void;
};

/** Options by provider. The field of the panel has the focus. */
function ModelList({ id, groups, at, chosen, onChoose }: ModelListProps) {
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, at]);
  let index = 0;
  const option = ({ value, label }: ModelOption) => {
    const own = index++;
    return (
      <button
        type="button"
        role="option"
        key={value ?? ''}
        id={`${id}-${own}`}
        tabIndex={-1}
        className="model-option"
        aria-selected={value === chosen}
        data-active={own === at || undefined}
        onPointerDown={(event) => event.preventDefault()}
        onClick={() => onChoose(value)}
      >
        <span>{label}</span>
        {value === chosen && <Icon name="check" />}
      </button>
    );
  };
  return (
    <div className="model-list" role="listbox" id={id} aria-label="Models" tabIndex={-1}>
      {groups.map(({ label, options }) =>
        label === '' ? (
          <Fragment key={label}>{options.map(option)}</Fragment>
        ) : (
          <fieldset key={label} aria-label={label}>
            <div className="model-group" aria-hidden="true">
              {label}
            </div>
            {options.map(option)}
          </fieldset>
        ),
      )}
    </div>
  );
}

// Below the list: how much is shown, and providers whose list could not be loaded.

type PanelStatusProps = { readonly listed: ListedModels; readonly matches: Matches };

function PanelStatus({ listed, matches }: PanelStatusProps) {
  const about = useServer();
  const failed = (listed.providers ?? []).filter(({ problem }) => problem !== null);
  const setup = (text: string) =>
    may(about, 'setup') && <a href={hrefOf({ page: 'admin' }, { section: 'model' })}>{text}</a>;
  const hasProblem = listed.problem !== null || failed.length > 0;
  return (
    <div className="model-status">
      <p className="hint" role="status">
        {statusText(listed, matches)}
      </p>
      {hasProblem && (
        <div className="model-problem" role="alert">
          {listed.problem !== null && <p>The list of models cannot be loaded. {listed.problem}</p>}
          {failed.map(({ provider, label, problem }) => (
            <p key={provider}>
              <strong>{label}</strong>: the list of models cannot be loaded. {problem}
            </p>
          ))}
          <div className="model-problem-actions">
            <Button onClick={() => void loadModels()} aria-disabled={listed.loading || undefined}>
              Try again
            </Button>
            {setup('Model settings')}
          </div>
        </div>
      )}
      {listed.providers?.length === 0 && setup('Connect a model')}
    </div>
  );
}

function statusText({ loading, providers }: ListedModels, { shown, total }: Matches): string {
  if (loading && providers === null) return 'Loading models …';
  if (total === 0) return 'No listed model matches.';
  if (shown < total) return `${shown} of ${total} models. Type to narrow the list.`;
  return counted(total, 'model');
}
