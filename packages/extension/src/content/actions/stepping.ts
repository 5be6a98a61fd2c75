/** Custom sliders and spin buttons, which are operated with arrow keys. */

import { giveFocus } from '../events/focus.ts';
import { keyNamed, sendKey } from '../events/keyboard.ts';
import { numberOf, subjectOf } from '../numbers.ts';
import { PageFailure } from '../page-error.ts';
import { frames } from './reach.ts';

const MOST_STEPS = 300;

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
  for (let step = 0; step < MOST_STEPS; step++) {
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
    if (after === before) throw refuse(`stays at ${before}; it takes ${limits}`);
    if (before < wanted !== after < wanted && after !== wanted)
      throw refuse(`has no value ${wanted}: it went from ${before} to ${after}`);
  }
  throw refuse(`did not reach ${wanted}`);
}

const current = (element: Element): number => Number(element.getAttribute('aria-valuenow') ?? Number.NaN);
