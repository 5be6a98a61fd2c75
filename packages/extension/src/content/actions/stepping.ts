/** Custom sliders and spin buttons, which are operated with arrow keys. */

import { ancestorsOf } from '../dom/flat-tree.ts';
import { giveFocus } from '../events/focus.ts';
import { keyNamed, sendKey } from '../events/keyboard.ts';
import { sendMouse } from '../events/pointer.ts';
import { numberOf, subjectOf } from '../numbers.ts';
import { PageFailure } from '../page-error.ts';
import { moveAndRelease } from './drag.ts';
import { frames, reachElement } from './reach.ts';

const MAX_STEPS = 300;

/** Presses arrow keys until the value is reached. */
export async function stepTo(element: HTMLElement, text: string): Promise<void> {
  const wanted = Number(text.replace(/[^\d.-]/g, ''));
  const limits = `${element.getAttribute('aria-valuemin') ?? ''} to ${element.getAttribute('aria-valuemax') ?? ''}`;
  const refuse = (why: string): PageFailure =>
    new PageFailure('INVALID_VALUE', `${subjectOf(element)} ${why}.`, numberOf(element));
  if (text.trim() === '' || Number.isNaN(wanted))
    throw refuse(`takes a number (${limits}), not ${JSON.stringify(text.slice(0, 40))}`);
  if (Number.isNaN(current(element))) throw refuse('takes no text');
  giveFocus(element);
  for (let step = 0; step < MAX_STEPS; step++) {
    const before = current(element);
    if (before === wanted) return;
    const key = keyNamed(wanted > before ? 'ArrowRight' : 'ArrowLeft');
    const other = keyNamed(wanted > before ? 'ArrowUp' : 'ArrowDown');
    for (const each of [key, other]) {
      if (!each || current(element) !== before) continue;
      sendKey(element, 'keydown', each);
      sendKey(element, 'keyup', each);
      if (current(element) === before) await frames(1);
    }
    const after = current(element);
    if (after === before && step === 0 && (await pointTo(element, wanted))) return;
    if (after === before) throw refuse(`stays at ${before}; it takes ${limits}`);
    if (before < wanted !== after < wanted && after !== wanted)
      throw refuse(`has no value ${wanted}: it went from ${before} to ${after}`);
  }
  if (await pointTo(element, wanted)) return;
  throw refuse(`did not reach ${wanted}`);
}

/** Drags the handle along its track. False if the value is not reached. */
async function pointTo(element: HTMLElement, wanted: number): Promise<boolean> {
  const [min, max] = ['aria-valuemin', 'aria-valuemax'].map((name) => Number(element.getAttribute(name)));
  const track = trackOf(element);
  if (!track || min === undefined || max === undefined || !(max > min)) return false;
  const { target, at } = await reachElement(element);
  const share = Math.min(1, Math.max(0, (wanted - min) / (max - min)));
  const box = track.getBoundingClientRect();
  const isUpright = element.getAttribute('aria-orientation') === 'vertical';
  const isReversed = isUpright || getComputedStyle(track).direction === 'rtl';
  const part = isReversed ? 1 - share : share;
  const end = isUpright
    ? { x: at.x, y: box.top + box.height * part }
    : { x: box.left + box.width * part, y: at.y };
  sendMouse(target, 'pointerdown', { at });
  sendMouse(target, 'mousedown', { at });
  await moveAndRelease(target, at, end);
  await frames(1);
  return current(element) === wanted;
}

/** The nearest box that is much longer than the handle. */
function trackOf(element: Element): Element | null {
  const own = element.getBoundingClientRect();
  for (const ancestor of [...ancestorsOf(element)].slice(0, 3)) {
    const { width, height } = ancestor.getBoundingClientRect();
    if (Math.max(width, height) > 3 * Math.max(own.width, own.height)) return ancestor;
  }
  return null;
}

const current = (element: Element): number => Number(element.getAttribute('aria-valuenow') ?? Number.NaN);
