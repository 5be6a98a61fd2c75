/** The open list of models. The focus stays in the field; arrow keys move, Enter chooses, Escape closes. */
import {
  type KeyboardEvent,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { loadModels, useListedModels } from '../../state/models.ts';
import { useServer } from '../../state/server.ts';
import { ModelList } from './list.tsx';
import { matching, modelGroups } from './options.ts';
import { placeBeside } from './place.ts';
import { PanelStatus } from './status.tsx';

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

export function ModelPanel({ button, value, fallback, onChoose, onClose, onLeave }: ModelPanelProps) {
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
    addEventListener('resize', place);
    addEventListener('scroll', place, { capture: true });
    window.visualViewport?.addEventListener('resize', place);
    return () => {
      removeEventListener('resize', place);
      removeEventListener('scroll', place, { capture: true });
      window.visualViewport?.removeEventListener('resize', place);
    };
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
      <input
        role="combobox"
        aria-expanded="true"
        aria-label="Search models"
        aria-controls={list}
        aria-activedescendant={options.length > 0 ? `${list}-${at}` : undefined}
        placeholder="Search, or enter a model name"
        autoComplete="off"
        spellCheck={false}
        maxLength={200}
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
