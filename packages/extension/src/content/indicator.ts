/** Shows in the page that an agent uses it, with a button that stops it. The page cannot read or style it. */

const STYLE = `
:host { all: initial !important; position: fixed !important; inset: 0 !important; width: auto !important; height: auto !important;
  z-index: 2147483647 !important; pointer-events: none !important; background: none !important; }
.frame { position: fixed; inset: 0; border: 3px solid #5b5bd6; box-sizing: border-box; }
.bar { position: fixed; bottom: 12px; left: 50%; transform: translateX(-50%); display: flex; gap: 10px; align-items: center;
  max-width: 80vw; padding: 6px 8px 6px 14px; border-radius: 999px; background: #1c1c28; color: #fff;
  font: 13px/1.4 system-ui, sans-serif; box-shadow: 0 2px 12px rgb(0 0 0 / 30%); }
.text { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
button { pointer-events: auto; padding: 4px 12px; border: 0; border-radius: 999px; background: #e5484d; color: #fff;
  font: inherit; font-weight: 600; cursor: pointer; }
button:focus-visible { outline: 2px solid #fff; outline-offset: 2px; }`;

type Indicator = { readonly host: HTMLElement; readonly text: HTMLElement; readonly guard: MutationObserver };

/** A page that removes it more often than this fights for it. */
const MAX_RETURNS = 100;

let shown: Indicator | null = null;

/** Pages may have elements that look like it: only our own counts. */
export const isIndicator = (node: Node | null): boolean =>
  node !== null && (node === shown?.host || node === drawn);

export function indicate(text: string | null, stop: () => void): void {
  if (text === null) {
    shown?.guard.disconnect();
    shown?.host.remove();
    shown = null;
    return;
  }
  shown ??= create(stop);
  shown.text.textContent = text.slice(0, 200);
  raise(shown.host);
}

const NUMBERS = `
:host { all: initial !important; position: fixed !important; inset: 0 !important; width: auto !important; height: auto !important;
  z-index: 2147483647 !important; pointer-events: none !important; background: none !important; }
.box { position: fixed; box-sizing: border-box; border: 1px solid #e5484d; }
.number { position: fixed; padding: 0 2px; background: #e5484d; color: #fff; font: bold 11px/13px system-ui, sans-serif; }`;

let drawn: HTMLElement | null = null;

/** Frames elements with their numbers while a picture is taken; none removes them. Returns the numbers. */
export function drawNumbers(boxes: readonly { readonly number: number; readonly box: DOMRect }[]): number[] {
  drawn?.remove();
  drawn = null;
  if (boxes.length === 0) return [];
  const { host, root } = layer(NUMBERS);
  for (const { number, box } of boxes) {
    const [frame, label] = [document.createElement('div'), document.createElement('div')];
    frame.className = 'box';
    frame.style.cssText = `left: ${box.x}px; top: ${box.y}px; width: ${box.width}px; height: ${box.height}px`;
    label.className = 'number';
    label.textContent = String(number);
    // Above the element, so that it does not hide what the element shows.
    label.style.cssText = `left: ${Math.max(0, box.x)}px; top: ${box.y >= 13 ? box.y - 13 : box.y}px`;
    root.append(frame, label);
  }
  drawn = host;
  raise(host);
  return boxes.map(({ number }) => number);
}

/** While a picture is taken. */
export function hideIndicator(on: boolean): void {
  if (on) shown?.host.style.setProperty('visibility', 'hidden', 'important');
  else shown?.host.style.removeProperty('visibility');
}

/** Above everything else, dialogs included. */
function raise(host: HTMLElement): void {
  if (!host.isConnected) document.documentElement.append(host);
  if (host.matches(':popover-open')) host.hidePopover();
  host.showPopover();
}

function layer(style: string): { readonly host: HTMLElement; readonly root: ShadowRoot } {
  // Not an element of its own kind: a page could define that kind.
  const host = document.createElement('div');
  host.setAttribute('data-parlance-indicator', '');
  host.popover = 'manual';
  const root = host.attachShadow({ mode: 'closed' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  root.adoptedStyleSheets = [sheet];
  return { host, root };
}

function create(stop: () => void): Indicator {
  const { host, root } = layer(STYLE);
  const [frame, bar, label, button] = ['div', 'div', 'span', 'button'].map((tag) =>
    document.createElement(tag),
  ) as [HTMLElement, HTMLElement, HTMLElement, HTMLElement];
  frame.className = 'frame';
  bar.className = 'bar';
  bar.setAttribute('role', 'status');
  label.className = 'text';
  button.textContent = 'Stop';
  // A page cannot press it: only the user's own clicks count.
  button.addEventListener('click', (event) => {
    if (event.isTrusted) stop();
  });
  bar.append(label, button);
  root.append(frame, bar);
  return { host, text: label, guard: guarded(host) };
}

/** It comes back if the page removes it. */
function guarded(host: HTMLElement): MutationObserver {
  let returns = 0;
  const guard = new MutationObserver(() => {
    if (!host.isConnected && returns++ < MAX_RETURNS) raise(host);
  });
  guard.observe(document.documentElement, { childList: true });
  return guard;
}
