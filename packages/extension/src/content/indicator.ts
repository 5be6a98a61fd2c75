/** Shows in the page that an agent uses it, with a button that stops it. The page cannot read or style it. */
import { INDICATOR } from './indicator-name.ts';

const STYLE = `
:host { all: initial; position: fixed; inset: 0; z-index: 2147483647; pointer-events: none; }
.frame { position: fixed; inset: 0; border: 3px solid #5b5bd6; box-sizing: border-box; }
.bar { position: fixed; bottom: 12px; left: 50%; transform: translateX(-50%); display: flex; gap: 10px; align-items: center;
  max-width: 80vw; padding: 6px 8px 6px 14px; border-radius: 999px; background: #1c1c28; color: #fff;
  font: 13px/1.4 system-ui, sans-serif; box-shadow: 0 2px 12px rgb(0 0 0 / 30%); }
.text { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
button { pointer-events: auto; padding: 4px 12px; border: 0; border-radius: 999px; background: #e5484d; color: #fff;
  font: inherit; font-weight: 600; cursor: pointer; }
button:focus-visible { outline: 2px solid #fff; outline-offset: 2px; }`;

let shown: { readonly host: HTMLElement; readonly text: HTMLElement } | null = null;

export function indicate(text: string | null, stop: () => void): void {
  if (text === null) {
    shown?.host.remove();
    shown = null;
    return;
  }
  if (!shown?.host.isConnected) shown = create(stop);
  shown.text.textContent = text.slice(0, 200);
}

function create(stop: () => void): NonNullable<typeof shown> {
  const host = document.createElement(INDICATOR);
  const root = host.attachShadow({ mode: 'closed' });
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
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
  document.documentElement.append(host);
  return { host, text: label };
}
