/**
 * Runs in the page's own world: answers `alert`, `confirm` and `prompt` at once, reports blocked popups, and counts requests
 * that are under way. Until the content script activates it, it only takes note of listeners.
 */
import { FROM_PAGE, type FromPage, PRESSABLE, TO_PAGE, type ToPage } from '../messages.ts';

const state = {
  active: false,
  /** how confirm and prompt are answered */
  accept: false,
  text: null as string | null,
  /** counts actions: only requests of the last one are waited for */
  generation: 0,
  pending: 0,
};

function report(message: FromPage): void {
  document.dispatchEvent(new CustomEvent(FROM_PAGE, { detail: JSON.stringify(message) }));
}

// Elements that react to a press although nothing in their markup says so. Listeners are recorded from the moment this script
// runs; of those that are older, only the ones that frameworks keep on the element itself are found.

const PRESSES = [
  'click',
  'mousedown',
  'mouseup',
  'pointerdown',
  'pointerup',
  'touchend',
  'mouseenter',
  'mouseover',
];
const HANDLERS = PRESSES.map((type) => `on${type}` as 'onclick');
/** as React and Vue call them */
const PROPERTIES = ['onClick', 'onMouseDown', 'onMouseUp', 'onPointerDown', 'onPointerUp', 'onMouseEnter'];
/** An element that listens to so many types is the root of a framework. */
const MAX_TYPES = 5;
const MAX_VISITED = 30_000;
const MAX_REPORTED = 2_000;

const listening = new WeakMap<object, Set<string>>();
const reported = new WeakSet<Element>();

function recordListeners({ EventTarget }: Window & typeof globalThis): void {
  const { prototype } = EventTarget;
  prototype.addEventListener = new Proxy(prototype.addEventListener, {
    apply(target, self: unknown, args: unknown[]) {
      const [type] = args;
      if (typeof type === 'string' && typeof self === 'object' && self !== null && PRESSES.includes(type)) {
        const types = listening.get(self);
        if (types) types.add(type);
        else listening.set(self, new Set([type]));
      }
      return Reflect.apply(target, self, args);
    },
  });
}

/** Sends an event on each such element, once. */
function reportPressable(document: Document): void {
  let [visited, found] = [0, 0];
  const visit = (root: Document | ShadowRoot): void => {
    for (const element of root.querySelectorAll<HTMLElement>('*')) {
      if (visited++ > MAX_VISITED || found > MAX_REPORTED) return;
      const inner = element.shadowRoot ?? documentIn(element);
      if (inner) visit(inner);
      if (reported.has(element) || !reacts(element)) continue;
      reported.add(element);
      found++;
      element.dispatchEvent(new CustomEvent(PRESSABLE, { composed: true }));
    }
  };
  visit(document);
}

const documentIn = (element: Element): Document | null =>
  element.localName === 'iframe' ? (element as HTMLIFrameElement).contentDocument : null;

function reacts(element: HTMLElement): boolean {
  const types = listening.get(element)?.size ?? 0;
  if (types > 0) return types < MAX_TYPES;
  return (
    HANDLERS.some((name) => typeof element[name] === 'function') ||
    Object.keys(element).some((key) => keepsListener(key, Reflect.get(element, key)))
  );
}

/** React, Vue, jQuery, D3, Angular (zone.js), Preact, Svelte and Solid. */
function keepsListener(key: string, value: unknown): boolean {
  if (key.startsWith('__on')) return keptByD3(key, value);
  if (/^(?:__|\$\$)click$|^__zone_symbol__click/.test(key)) return true;
  if (/^__react(?:Props|EventHandlers)\$|^_vei$/.test(key))
    return PROPERTIES.some((name) => has(value, name));
  if (/^jQuery\d/.test(key))
    return has(value, 'events') && PRESSES.some((type) => has(Reflect.get(Object(value), 'events'), type));
  return (key === 'l' || key === '_listeners') && (has(value, 'clickfalse') || has(value, 'Clickfalse'));
}

/** `__onclick` or `__onmousedown.drag`, and since version 4 a list in `__on`. */
const keptByD3 = (key: string, value: unknown): boolean =>
  key === '__on'
    ? Array.isArray(value) && value.some((each) => PRESSES.includes(Reflect.get(Object(each), 'type')))
    : PRESSES.includes(key.slice(4).split('.', 1)[0] ?? '');

const has = (value: unknown, name: string): boolean =>
  typeof value === 'object' && value !== null && Boolean(Reflect.get(value, name));

const INSTALLED = Symbol.for('parlance.page-world');

function receive(event: Event): void {
  const message = JSON.parse(String((event as CustomEvent).detail)) as ToPage;
  if (message.type === 'pressable') reportPressable(document);
  else if (message.type === 'active') state.active = message.on;
  else {
    state.accept = message.accept;
    state.text = message.text;
    state.generation++;
    state.pending = 0;
  }
  if (state.active) patch(window);
}

if (!(INSTALLED in window)) {
  Object.defineProperty(window, INSTALLED, { value: true });
  recordListeners(window);
  document.addEventListener(TO_PAGE, receive);
}

// Replaces functions of a window, and of its frames of the same origin. Inactive, they call the originals.

type View = Window & typeof globalThis;

const patched = new WeakSet<View>();
const MAX_LENGTH = 2_000;

function patch(view: View): void {
  if (!patched.has(view)) {
    patched.add(view);
    patchDialogs(view);
    patchOpen(view);
    patchFetch(view);
    patchXhr(view);
    patchCapture(view);
    patchLeaving(view);
  }
  for (let index = 0; index < view.length; index++) {
    const inner = view[index] as View | undefined;
    if (inner && isSameOrigin(inner)) patch(inner);
  }
}

function isSameOrigin(view: View): boolean {
  try {
    return view.document !== null;
  } catch {
    return false;
  }
}

function patchDialogs(view: View): void {
  const { alert, confirm, prompt, print } = view;
  const seen = (type: 'alert' | 'confirm' | 'prompt', message: unknown): void =>
    report({ type: 'dialog', dialog: { type, message: String(message ?? '').slice(0, MAX_LENGTH) } });
  view.alert = (message?: unknown) => {
    if (!state.active) alert.call(view, String(message ?? ''));
    else seen('alert', message);
  };
  view.confirm = (message?: string) => {
    if (!state.active) return confirm.call(view, message);
    seen('confirm', message);
    return state.accept;
  };
  view.prompt = (message?: string, value?: string) => {
    if (!state.active) return prompt.call(view, message, value);
    seen('prompt', message);
    return state.accept ? (state.text ?? value ?? '') : null;
  };
  view.print = () => {
    if (!state.active) print.call(view);
  };
}

/** Without a click of the user, a popup blocker returns null; so do tabs without access to their opener. */
function patchOpen(view: View): void {
  const { open } = view;
  view.open = (url?: string | URL, target?: string, features?: string) => {
    const opened = open.call(view, url, target, features);
    if (state.active && url) {
      const address = URL.parse(String(url), view.document.baseURI)?.href;
      if (address) report({ type: opened ? 'opened' : 'open', url: address.slice(0, MAX_LENGTH) });
    }
    return opened;
  };
}

/** Returns what to call when the request is over. */
function begin(): () => void {
  const { generation } = state;
  state.pending++;
  report({ type: 'network', pending: state.pending });
  return () => {
    if (generation !== state.generation) return;
    state.pending--;
    report({ type: 'network', pending: state.pending });
  };
}

function patchFetch(view: View): void {
  const original = view.fetch;
  const counted = (...args: Parameters<typeof fetch>): Promise<Response> => {
    const response = original.apply(view, args);
    if (state.active) {
      const end = begin();
      response.then(end, end);
    }
    return response;
  };
  view.fetch = Object.assign(counted, original);
}

function patchXhr(view: View): void {
  const { prototype } = view.XMLHttpRequest;
  const { send } = prototype;
  prototype.send = function (body) {
    if (state.active) this.addEventListener('loadend', begin(), { once: true });
    send.call(this, body);
  };
}

/** Nobody answers whether the page may be left: it is left. */
function patchLeaving(view: View): void {
  const leave = (event: Event): void => {
    if (state.active) event.stopImmediatePropagation();
  };
  view.addEventListener('beforeunload', leave, true);
}

/**
 * The pointer of the content script's events cannot be captured: the page is made to believe that it was, and the content
 * script sends all moves to the same element.
 */
function patchCapture(view: View): void {
  const { prototype } = view.Element;
  const { setPointerCapture, hasPointerCapture, releasePointerCapture } = prototype;
  const captured = new WeakSet<Element>();
  const isOurs = (): boolean => state.active && view.event?.isTrusted === false;
  prototype.setPointerCapture = function (pointer) {
    if (!isOurs()) return setPointerCapture.call(this, pointer);
    captured.add(this);
    report({ type: 'capture' });
  };
  prototype.hasPointerCapture = function (pointer) {
    return isOurs() ? captured.has(this) : hasPointerCapture.call(this, pointer);
  };
  prototype.releasePointerCapture = function (pointer) {
    if (!isOurs()) return releasePointerCapture.call(this, pointer);
    captured.delete(this);
  };
}
