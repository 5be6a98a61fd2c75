/**
 * Keys y, a, n, e: apply to the focused card, or to the first pending one. Without the focus, a key may be the beginning of a
 * message: it is written into the message field, and answers only if it stands alone.
 */
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { afterPause } from './approval.ts';

export type Key = 'y' | 'a' | 'n' | 'e';
/** What the keys of a card do; others are text. */
export type KeyActions<Offered extends Key = Key> = { readonly [key in Offered]?: () => void };

const KEYS: ReadonlySet<string> = new Set<Key>(['y', 'a', 'n', 'e']);
const MODIFIERS: ReadonlySet<string> = new Set(['Shift', 'Control', 'Alt', 'AltGraph', 'Meta']);
const NOTHING = (): void => undefined;
const PENDING_CARD = '.approval[data-state="pending"]';

/** Letters that follow each other faster belong to a word. */
const WORD_MS = 1_000;

type MessageField = { readonly element: HTMLTextAreaElement; readonly write: (text: string) => void };
let messageField: MessageField | null = null;

/** Makes this the field that receives a key which may be the beginning of a message. */
export function useMessageField(
  area: RefObject<HTMLTextAreaElement | null>,
  write: (text: string) => void,
): void {
  const latest = useRef(write);
  latest.current = write;
  useEffect(() => {
    if (area.current === null) return;
    const field = { element: area.current, write: (text: string) => latest.current(text) };
    messageField = field;
    return () => {
      if (messageField === field) messageField = null;
    };
  }, [area]);
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches('input, textarea, select, [role="menuitem"]')) &&
  !(target === messageField?.element && target.dataset.empty === 'true');

/** Moves the focus to the first pending card; false if there is none. */
export function focusPendingCard(): boolean {
  const card = document.querySelector<HTMLElement>(PENDING_CARD);
  card?.focus();
  return card !== null;
}

function aimedAt(): Element | null {
  const focused = document.activeElement?.closest(PENDING_CARD);
  return focused ?? document.querySelector(PENDING_CARD);
}

/** False if the card is scrolled out of view. */
function isInView(card: HTMLElement): boolean {
  const { top, bottom } = card.getBoundingClientRect();
  const area = card.closest('.transcript')?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight };
  return bottom > area.top && top < area.bottom;
}

/** Time stamps of the last two letters that were typed anywhere, one after the other. */
let letters: readonly [number, number] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
const forgetLetters = (): void => {
  letters = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
};
// Not in the unit tests, which have no window.
if (typeof window !== 'undefined')
  window.addEventListener(
    'keydown',
    ({ key, timeStamp }) => {
      if (key.length === 1) letters = [letters[1], timeStamp];
      else if (!MODIFIERS.has(key)) forgetLetters();
    },
    true,
  );

/** Typed without a field that has the focus, the last letter of a word is not alone. */
const endsWord = ({ target }: KeyboardEvent): boolean =>
  target !== messageField?.element && letters[1] - letters[0] < WORD_MS;

/** Ignores key repeat, typing in fields, and keys while a dialog is open. */
function keyOf(event: KeyboardEvent): Key | null {
  const { repeat, isComposing, ctrlKey, metaKey, altKey, defaultPrevented, target } = event;
  if (repeat || isComposing || ctrlKey || metaKey || altKey || defaultPrevented) return null;
  const key = event.key.toLowerCase();
  if (!KEYS.has(key) || isTyping(target) || document.querySelector('dialog[open]')) return null;
  return key as Key;
}

const isPlainEnter = ({ key, ctrlKey, metaKey, altKey, shiftKey, isComposing }: KeyboardEvent): boolean =>
  key === 'Enter' && !(ctrlKey || metaKey || altKey || shiftKey || isComposing);

type Held = {
  readonly card: HTMLElement | null;
  /** the key stands alone */
  readonly act: () => void;
  /** called once, before `act` */
  readonly ended: () => void;
};

/**
 * Call it in the event of the key, whose default action writes it into the message field. Nothing follows for a second, or
 * Enter does: takes it out again and acts. Escape: takes it out. Anything else: it stays as text. The returned function ends
 * the waiting and leaves the text.
 */
function hold(event: KeyboardEvent, { card, act, ended }: Held): () => void {
  const field = messageField;
  const before = field?.element.value ?? '';
  const written = before + event.key;
  if (field && document.activeElement !== field.element) {
    field.element.focus({ preventScroll: true });
    field.element.setSelectionRange(before.length, before.length);
  }
  const isAlone = () => field === null || field.element.value === written;
  const listening = new AbortController();

  function release(): void {
    if (listening.signal.aborted) return;
    listening.abort();
    stopWaiting();
    ended();
  }
  function takeBack(): void {
    release();
    forgetLetters();
    field?.write(before);
  }
  function confirm(): void {
    if (isAlone()) {
      takeBack();
      act();
    } else release();
  }
  let stopWaiting = afterPause(confirm);

  function onKeyDown(next: KeyboardEvent): void {
    if (MODIFIERS.has(next.key)) {
      stopWaiting();
      stopWaiting = afterPause(confirm);
      return;
    }
    if (!isAlone() || !(isPlainEnter(next) || next.key === 'Escape')) {
      release();
      return;
    }
    next.preventDefault();
    next.stopPropagation();
    if (next.key === 'Enter') confirm();
    else takeBack();
  }
  const options = { capture: true, signal: listening.signal };
  addEventListener('keydown', onKeyDown, options);
  addEventListener('input', () => !isAlone() && release(), options);
  addEventListener(
    'pointerdown',
    ({ target }) => (target instanceof Node && card?.contains(target) ? takeBack() : release()),
    options,
  );
  return release;
}

function useKeydown(onKeydown: (event: KeyboardEvent) => void): void {
  const latest = useRef(onKeydown);
  latest.current = onKeydown;
  // A card that is shown answers to keys.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => latest.current(event);
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}

/**
 * Returns the key that waits for what follows, if any. `question` identifies what is answered: a waiting key does not apply to
 * another one. A card out of view is not answered but shown.
 */
export function useKeys<Offered extends Key>(
  card: RefObject<HTMLElement | null>,
  actions: KeyActions<Offered>,
  question: string,
): Offered | null {
  const [held, setHeld] = useState<Offered | null>(null);
  const latest = useRef(actions);
  latest.current = actions;
  const release = useRef(NOTHING);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another question releases the key
  useEffect(() => () => release.current(), [question]);

  useKeydown((event) => {
    const key = keyOf(event) as Offered | null;
    const element = card.current;
    if (key === null || actions[key] === undefined || element === null || aimedAt() !== element) return;
    const isShown = isInView(element);
    const act = () => {
      if (isShown && isInView(element)) latest.current[key]?.();
      else element.scrollIntoView({ block: 'end' });
    };
    if (element.contains(document.activeElement)) {
      event.preventDefault();
      act();
    } else if (!endsWord(event)) {
      if (isShown) setHeld(key);
      release.current = hold(event, { card: element, act, ended: () => setHeld(null) });
    }
  });
  return held;
}

/** For a card that is so far out of view that it is not in the document: a key calls `show`, which scrolls to it. */
export function useDistantCard(isPending: boolean, show: () => void): void {
  const latest = useRef(show);
  latest.current = show;
  const release = useRef(NOTHING);
  useEffect(() => () => release.current(), []);
  useKeydown((event) => {
    if (!isPending || keyOf(event) === null || endsWord(event) || document.querySelector(PENDING_CARD))
      return;
    release.current = hold(event, { card: null, act: () => latest.current(), ended: NOTHING });
  });
}
