/** Replaces functions of a window, and of its frames of the same origin. Inactive, they call the originals. */
import { report, state } from './state.ts';

type View = Window & typeof globalThis;

const patched = new WeakSet<View>();
const MAX_LENGTH = 2_000;

export function patch(view: View): void {
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
