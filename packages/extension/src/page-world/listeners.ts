/**
 * Elements that react to a press although nothing in their markup says so. Listeners are recorded from the moment this script
 * runs; of those that are older, only the ones that frameworks keep on the element itself are found.
 */
import { PRESSABLE } from '../page-channel.ts';

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

export function recordListeners({ EventTarget }: Window & typeof globalThis): void {
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
export function reportPressable(document: Document): void {
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
