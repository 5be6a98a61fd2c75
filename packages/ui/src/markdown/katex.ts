/** KaTeX, in a chunk of its own. Elements are made by script, so that the policy needs no inline styles. */
import katex from 'katex';

/** Address of the stylesheet; set by the build. */
declare const KATEX_STYLE: string;

let styled = false;

function addStyle(): void {
  if (styled) return;
  styled = true;
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = KATEX_STYLE;
  document.head.append(link);
}

/** False if the formula has an error: its source is shown then. */
export function draw(tex: string, place: HTMLElement, displayMode: boolean): boolean {
  addStyle();
  try {
    // No links, no images, no classes or ids: `trust` is off. Macros and sizes are limited.
    katex.render(tex, place, { displayMode, trust: false, strict: 'ignore', maxSize: 20, maxExpand: 200 });
    return true;
  } catch {
    // A parse error, or a formula that is nested too deeply.
    place.replaceChildren();
    return false;
  }
}
