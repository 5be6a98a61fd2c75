/** Finds controls that are cut off, covered by others, or too small for their text. */
import type { Page } from 'playwright-core';
import { until } from '../../packages/server/src/testing/until.ts';

/**
 * One line per problem that stays: rows are measured, and menus follow the window, after its size has changed. While a dialog is
 * open, only its controls are checked.
 */
export async function layoutProblems(page: Page): Promise<string[]> {
  let found: string[] = [];
  const isWhole = async () => {
    found = (await page.evaluate(SCRIPT)) as string[];
    return found.length === 0;
  };
  await until(isWhole).catch(() => undefined);
  return found;
}

const SCRIPT = `(() => {
  const CONTROLS = 'a[href], button, input, select, textarea, summary, [role=tab], [role=menuitem], [role=option]';
  const SLACK = 1.5;
  const root = document.querySelector('dialog[open]') ?? document.body;
  const problems = [];

  const nameOf = (element) =>
    element.tagName.toLowerCase() + ' “' +
    (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 40) + '”';

  /** The area that is not clipped by ancestors. */
  function visibleArea(element) {
    const area = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    for (let up = element.parentElement; up && up !== document.documentElement; up = up.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(up);
      const box = up.getBoundingClientRect();
      if (overflowX !== 'visible') {
        area.left = Math.max(area.left, box.left);
        area.right = Math.min(area.right, box.right);
      }
      if (overflowY !== 'visible') {
        area.top = Math.max(area.top, box.top);
        area.bottom = Math.min(area.bottom, box.bottom);
      }
    }
    return area;
  }

  for (const element of root.querySelectorAll(CONTROLS)) {
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest('.unseen, .skip, [aria-hidden=true]') || element.matches('[type=file]')) continue;
    const box = element.getBoundingClientRect();
    const area = visibleArea(element);
    if (box.left < area.left - SLACK || box.right > area.right + SLACK)
      problems.push(nameOf(element) + ' is cut off: ' + Math.round(box.left) + '–' + Math.round(box.right) +
        ' of ' + Math.round(area.left) + '–' + Math.round(area.right));
    const { textOverflow, overflowX } = getComputedStyle(element);
    const isText = element.matches('button, a');
    if (isText && textOverflow !== 'ellipsis' && overflowX !== 'visible' && element.scrollWidth > element.clientWidth + SLACK)
      problems.push(nameOf(element) + ' is too small for its text');
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
    if (x <= area.left || x >= area.right || y <= area.top || y >= area.bottom) continue;
    const hit = document.elementFromPoint(x, y);
    // Pages scroll below their title, dialogs below their buttons; menus, the tour and Jump to latest are above the page.
    if (hit && !hit.closest('.bar, .dialog-buttons, .slash-menu, .menu-list, .model-panel, .tour-card, .to-end') && !element.contains(hit) && !hit.contains(element))
      problems.push(nameOf(element) + ' is covered by ' + hit.tagName.toLowerCase() + '.' + hit.className);
  }
  const overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (overflow > 0) problems.push('the page scrolls horizontally by ' + overflow);
  return problems;
})()`;
